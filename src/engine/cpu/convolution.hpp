// The three passes of a convolution, each by the implementation that is fastest for its shape here: oneDNN has several, and the gradient of
// a 1x1 convolution's weights has one of ours too.
#pragma once
#include "engine/cpu/engine.hpp"
#include "engine/cpu/kernels/pointwise.hpp"
#include "engine/cpu/onednn.hpp"

namespace erg {

// z = conv(x, w)
class ConvolutionForward {
 public:
  ConvolutionForward(CpuEngine& engine, const ConvBnDesc& d);
  const onednn::Desc& weights() const { return weights_; }
  void operator()(const void* x, const void* w, void* z, void* scratch) { call_({x, w, z}, scratch); }
  int64_t scratch_bytes() const { return call_.scratch_bytes(); }

 private:
  onednn::Desc weights_;
  onednn::Call call_;
};

// d_x = or += conv^T(dz, w). A 1x1 convolution's input gradient is the 1x1 convolution with the transposed weights, and as a forward
// convolution oneDNN can add its result to what is there.
class ConvolutionInputGradient {
 public:
  enum class Kind { write, add };  // add: 1x1 of stride 1 only
  ConvolutionInputGradient() = default;
  ConvolutionInputGradient(CpuEngine& engine, const ConvBnDesc& d, Kind kind);
  const onednn::Desc& weights() const { return weights_; }
  void operator()(const void* dz, const void* w, void* d_x, void* scratch) { call_({dz, w, d_x}, scratch); }
  int64_t scratch_bytes() const { return call_.scratch_bytes(); }
  explicit operator bool() const { return bool(call_); }

 private:
  onednn::Desc weights_;
  onednn::Call call_;
};

// dw = sum of dz x, in fp32.
class ConvolutionWeightGradient {
 public:
  ConvolutionWeightGradient(CpuEngine& engine, const ConvBnDesc& d);
  const onednn::Desc& weights() const { return weights_; }  // layout of dw
  void operator()(const void* x, const void* dz, float* dw, void* scratch);
  int64_t scratch_bytes() const { return scratch_bytes_; }

 private:
  onednn::Desc weights_;
  onednn::Call call_;            // empty: ours
  PointwiseGradient pointwise_;  // without its pointers
  int64_t scratch_bytes_ = 0;
};

}  // namespace erg
