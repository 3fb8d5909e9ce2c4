#include "engine/ref/values.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"

namespace erg::ref {
namespace {

[[noreturn]] void wrong_dtype(DType t) {
  throw Error(ErrorKind::failed, "values are fp32 or bf16, not " + std::string(name_of(t)), "engine ref");
}

void load_as(DType dtype, const void* from, float* to, int64_t count) {
  if (dtype == DType::f32)
    std::copy_n(static_cast<const float*>(from), count, to);
  else if (dtype == DType::bf16)
    std::transform(static_cast<const bf16_bits*>(from), static_cast<const bf16_bits*>(from) + count, to, to_float);
  else
    wrong_dtype(dtype);
}

void store_as(DType dtype, void* to, const float* from, int64_t count) {
  if (dtype == DType::f32)
    std::copy_n(from, count, static_cast<float*>(to));
  else if (dtype == DType::bf16)
    std::transform(from, from + count, static_cast<bf16_bits*>(to), to_bf16);
  else
    wrong_dtype(dtype);
}

}  // namespace

void load(const Tensor& from, float* to) { load_as(from.dtype, from.data, to, from.size()); }
void store(const Tensor& to, const float* from) { store_as(to.dtype, to.data, from, to.size()); }
float rounded(DType dtype, float value) { return dtype == DType::bf16 ? to_float(to_bf16(value)) : value; }

void store_gradient(const ParameterView& to, const float* gradient, int64_t count, Accumulate accumulate) {
  if (accumulate == Accumulate::no) return store_as(to.gradient_dtype, to.gradient, gradient, count);
  if (to.gradient_dtype == DType::f32) {
    float* sum = static_cast<float*>(to.gradient);
    for (int64_t i = 0; i < count; ++i) sum[i] += gradient[i];
  } else if (to.gradient_dtype == DType::bf16) {
    bf16_bits* sum = static_cast<bf16_bits*>(to.gradient);
    for (int64_t i = 0; i < count; ++i) sum[i] = to_bf16(to_float(sum[i]) + gradient[i]);
  } else {
    wrong_dtype(to.gradient_dtype);
  }
}

float* Workspace::take(int64_t count) {
  if (count > end_ - next_) throw Error(ErrorKind::failed, "an op uses more scratch than it reserved", "engine ref");
  return std::exchange(next_, next_ + count);
}

float* Workspace::zeros(int64_t count) {
  float* values = take(count);
  std::fill_n(values, count, 0.0f);
  return values;
}

float* Workspace::load(const Tensor& t) {
  float* values = take(t.size());
  ref::load(t, values);
  return values;
}

const float* Workspace::weights(const ParameterView& v, int64_t count) {
  if (!v.compute || v.compute == v.master) return v.master;
  float* values = take(count);
  load_as(v.compute_dtype, v.compute, values, count);
  return values;
}

}  // namespace erg::ref
