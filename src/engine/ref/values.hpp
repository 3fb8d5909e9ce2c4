// Between memory (fp32 or bf16) and arithmetic (always fp32): ops load what they read, compute on floats, and store what they made.
#pragma once
#include "engine/engine.hpp"

namespace erg::ref {

void load(const Tensor& from, float* to);
void store(const Tensor& to, const float* from);  // rounds to the tensor's dtype
float rounded(DType dtype, float value);          // what is left of a value after it was stored
void store_gradient(const ParameterView& to, const float* gradient, int64_t count, Accumulate accumulate);

// Temporary floats for one op call, from the engine's scratch: reserve in the op's constructor, take in the call.
class Workspace {
 public:
  static void reserve(Engine& engine, int64_t floats) { engine.reserve_scratch(floats * int64_t(sizeof(float))); }

  explicit Workspace(const Engine& engine)
      : next_(static_cast<float*>(engine.scratch())), end_(next_ + engine.scratch_bytes() / int64_t(sizeof(float))) {}
  float* zeros(int64_t count);
  float* load(const Tensor& t);
  const float* weights(const ParameterView& v, int64_t count);  // the compute copy where there is one, else the master

 private:
  float* take(int64_t count);
  float *next_, *end_;
};

// A tensor that an op owns, to keep values from forward to backward.
class Saved {
 public:
  Saved() = default;
  Saved(Engine& engine, DType dtype, const Shape& shape)
      : buffer_(engine.allocate(elements(shape) * bytes_of(dtype), "saved for backward")),
        tensor_{dtype, shape, Layout::plain, buffer_->data(), buffer_->bytes()} {}
  const Tensor& tensor() const { return tensor_; }
  float* floats() const { return tensor_.as<float>(); }

 private:
  std::unique_ptr<Buffer> buffer_;
  Tensor tensor_;
};

}  // namespace erg::ref
