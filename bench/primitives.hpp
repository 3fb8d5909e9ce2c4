// What an op stands on, alone: its convolutions or matrix products as oneDNN's primitives on memory of their own, without batch norm,
// activation, packing or anything else of ours around them. No training step built on oneDNN can be faster than these.
#pragma once
#include <memory>
#include <vector>

#include "engine/cpu/onednn.hpp"
#include "engine/engine.hpp"
#include "model/ops.hpp"

namespace erg::bench {

enum class ImageLayout { ours, nhwc };  // ours: engine/cpu/layout.hpp's blocks

class Primitives {
 public:
  // Images in `layout`; operands of products in whatever layout oneDNN likes best. Gradients of weights are fp32.
  Primitives(Engine& engine, const OpDesc& desc, ImageLayout layout = ImageLayout::ours);

  bool empty() const { return forward_.empty(); }  // an op of own kernels only
  void forward() { run(forward_); }
  void backward() { run(backward_); }  // both gradients

  void add_convolution(const ConvBnDesc& d);
  void add_products(int64_t rows, int64_t in, int64_t out, DType dtype);  // of y [rows, out] = x [rows, in] w^T

 private:
  using Calls = std::vector<onednn::Call>;

  void add(Calls& calls, onednn::Call call, const onednn::Desc& a, const onednn::Desc& b, const onednn::Desc& result);
  void add_product(Calls& calls, int64_t m, int64_t n, int64_t k, DType operands, DType result);
  void allocate(Engine& engine);
  void run(Calls& calls);

  ImageLayout layout_;
  Calls forward_, backward_;
  int64_t a_bytes_ = 0, b_bytes_ = 0, result_bytes_ = 0, scratch_bytes_ = 0;  // the largest of all calls, which share them
  std::unique_ptr<Buffer> a_, b_, result_, scratch_;
};

}  // namespace erg::bench
