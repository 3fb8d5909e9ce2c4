// Max pooling that remembers which tap won, and the mean over all pixels.
#pragma once
#include "engine/cpu/isa.hpp"
#include "engine/cpu/kernels/planes.hpp"

namespace erg {

struct MaxPool {
  DType dtype = DType::f32;
  int64_t planes = 0, block = 1;  // images x channel blocks
  int64_t in_height = 0, in_width = 0, out_height = 0, out_width = 0, kernel = 3, stride = 2, padding = 1;
  const void* x = nullptr;  // forward reads x, writes y and taps
  void* y = nullptr;
  uint8_t* taps = nullptr;   // row * kernel + column within the window, as long as y; null in evaluation
  const void* dy = nullptr;  // backward reads dy and taps, writes dx
  void* dx = nullptr;
};

struct GlobalAvgPool {
  Planes shape;             // of x
  const void* x = nullptr;  // forward: x -> y [images][channels], same dtype
  void* y = nullptr;
  const void* dy = nullptr;  // backward: dy -> dx
  void* dx = nullptr;
};

struct PoolKernels {
  void (*max_forward)(const MaxPool&);
  void (*max_backward)(const MaxPool&);
  void (*mean_forward)(const GlobalAvgPool&);
  void (*mean_backward)(const GlobalAvgPool&);
};
ERG_KERNELS(PoolKernels, pool_kernels)

}  // namespace erg
