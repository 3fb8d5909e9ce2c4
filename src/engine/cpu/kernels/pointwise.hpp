// The gradient of a 1x1 convolution's weights in blocked layouts: a matrix product that sums over all pixels of all images,
//   dw[o, i] = sum over images and pixels of dz[o] x[i]
// Channels of all tensors lie in blocks of 16; where the last block is not full, its rest is 0 in x and dz, and so in dw.
#pragma once
#include <cstdint>

#include "core/dtype.hpp"
#include "engine/cpu/isa.hpp"

namespace erg {

struct PointwiseGradient {
  DType dtype = DType::f32;  // of x and dz
  int64_t images = 0, in_blocks = 0, out_blocks = 0;
  int64_t in_height = 0, in_width = 0, stride = 1;
  int threads = 1;
  const void* x = nullptr;    // [images, in_blocks, in_height, in_width, 16]
  const void* dz = nullptr;   // [images, out_blocks, out_height, out_width, 16]
  float* dw = nullptr;        // [out_blocks, in_blocks, 16 in, 16 out]: overwritten
  void* workspace = nullptr;  // workspace_bytes(), 64-byte aligned

  int64_t out_height() const { return (in_height - 1) / stride + 1; }
  int64_t out_width() const { return (in_width - 1) / stride + 1; }
};

struct PointwiseKernels {
  int64_t (*workspace_bytes)(const PointwiseGradient&);
  void (*weight_gradient)(const PointwiseGradient&);
};
ERG_KERNELS(PointwiseKernels, pointwise_kernels)

}  // namespace erg
