// The kernel tables of every instruction set that this processor runs, whichever of them the engine would pick.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "engine/cpu/kernels/add.hpp"
#include "engine/cpu/kernels/attention.hpp"
#include "engine/cpu/kernels/batch_norm.hpp"
#include "engine/cpu/kernels/classifier.hpp"
#include "engine/cpu/kernels/linear.hpp"
#include "engine/cpu/kernels/optimizer.hpp"
#include "engine/cpu/kernels/pointwise.hpp"
#include "engine/cpu/kernels/pool.hpp"
#include "engine/cpu/kernels/residual_norm.hpp"

namespace erg::test {

struct Tables {
  std::string isa;
  const BatchNormKernels* batch_norm;
  const PoolKernels* pool;
  const AddKernels* add;
  const LinearKernels* linear;
  const ResidualNormKernels* residual_norm;
  const AttentionKernel *attention_forward, *attention_backward;
  const ClassifierKernels* classifier;
  const OptimizerKernels* optimizer;
  const PointwiseKernels* pointwise;
};
inline void PrintTo(const Tables& t, std::ostream* os) { *os << t.isa; }
inline std::string isa_name(const testing::TestParamInfo<Tables>& info) { return info.param.isa; }

inline std::vector<Tables> tables_here() {
#define ERG_TABLES(isa)               \
  Tables{#isa,                        \
         &isa::batch_norm_kernels,    \
         &isa::pool_kernels,          \
         &isa::add_kernels,           \
         &isa::linear_kernels,        \
         &isa::residual_norm_kernels, \
         &isa::attention_forward,     \
         &isa::attention_backward,    \
         &isa::classifier_kernels,    \
         &isa::optimizer_kernels,     \
         &isa::pointwise_kernels}
  std::vector<Tables> all{ERG_TABLES(isa_baseline)};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v3")) all.push_back(ERG_TABLES(isa_v3));
  if (__builtin_cpu_supports("x86-64-v4")) all.push_back(ERG_TABLES(isa_v4));
  if (__builtin_cpu_supports("x86-64-v4") && __builtin_cpu_supports("avx512bf16")) all.push_back(ERG_TABLES(isa_v4_bf16));
#endif
#undef ERG_TABLES
  return all;
}

// A flat array of either type, filled by value(index), and its values as double.
class Array {
 public:
  template <class F>
  Array(DType dtype, int64_t count, F value) : Array(dtype, count) {
    for (int64_t i = 0; i < count; ++i) set(i, value(i));
  }
  Array(DType dtype, int64_t count) : dtype_(dtype), bytes_(size_t(count * bytes_of(dtype))) {}

  void set(int64_t i, double value) {
    if (dtype_ == DType::f32) reinterpret_cast<float*>(bytes_.data())[i] = float(value);
    if (dtype_ == DType::bf16) reinterpret_cast<bf16_bits*>(bytes_.data())[i] = to_bf16(float(value));
  }
  double operator[](int64_t i) const {
    if (dtype_ == DType::f32) return reinterpret_cast<const float*>(bytes_.data())[i];
    return to_float(reinterpret_cast<const bf16_bits*>(bytes_.data())[i]);
  }
  void* data() { return bytes_.data(); }

 private:
  DType dtype_;
  std::vector<char> bytes_;
};

// An image tensor in some layout, and its logical values as double.
class Image {
 public:
  explicit Image(const Planes& shape) : shape_(shape), bytes_(size_t(shape.bytes())) {}

  void set(int64_t image, int64_t channel, int64_t pixel, double value) {
    const size_t i = at(image, channel, pixel);
    if (shape_.dtype == DType::f32) reinterpret_cast<float*>(bytes_.data())[i] = float(value);
    if (shape_.dtype == DType::bf16) reinterpret_cast<bf16_bits*>(bytes_.data())[i] = to_bf16(float(value));
  }
  double get(int64_t image, int64_t channel, int64_t pixel) const {
    const size_t i = at(image, channel, pixel);
    if (shape_.dtype == DType::f32) return reinterpret_cast<const float*>(bytes_.data())[i];
    return to_float(reinterpret_cast<const bf16_bits*>(bytes_.data())[i]);
  }
  void* data() { return bytes_.data(); }

  template <class F>
  void fill(F value) {
    for_each(shape_, [&](int64_t n, int64_t c, int64_t p) { set(n, c, p, value(n, c, p)); });
  }
  template <class F>
  static void for_each(const Planes& s, F f) {
    for (int64_t n = 0; n < s.images; ++n)
      for (int64_t c = 0; c < s.channels; ++c)
        for (int64_t p = 0; p < s.pixels; ++p) f(n, c, p);
  }
  bool padding_is_zero() const {
    for (int64_t n = 0; n < shape_.images; ++n)
      for (int64_t c = shape_.channels; c < shape_.blocks() * shape_.block; ++c)
        for (int64_t p = 0; p < shape_.pixels; ++p)
          if (get(n, c, p) != 0) return false;
    return true;
  }

 private:
  size_t at(int64_t n, int64_t c, int64_t p) const {
    return size_t(((n * shape_.blocks() + c / shape_.block) * shape_.pixels + p) * shape_.block + c % shape_.block);
  }
  Planes shape_;
  std::vector<char> bytes_;
};

}  // namespace erg::test
