// Elementary functions of a vector of floats, made of additions and multiplications so that every instruction set vectorises them.
// Only for kernels/*.cpp, like bf16.hpp. NaN in, NaN out.
#pragma once
#include "engine/cpu/kernels/vector.hpp"

namespace erg::ERG_ISA {

// a > b ? a : b in one instruction, and the other way round; b where one is NaN.
// (The intrinsics here are those with a mask, all ones, because GCC 12 warns of undefined values in the others.)
template <int B>
[[gnu::always_inline]] inline F<B> larger(F<B> a, F<B> b) {
#if defined(__AVX512F__)
  if constexpr (B == 16) return (F<B>)_mm512_maskz_max_ps(0xffff, (__m512)a, (__m512)b);
#endif
  return a > b ? a : b;
}
template <int B>
[[gnu::always_inline]] inline F<B> smaller(F<B> a, F<B> b) {
#if defined(__AVX512F__)
  if constexpr (B == 16) return (F<B>)_mm512_maskz_min_ps(0xffff, (__m512)a, (__m512)b);
#endif
  return a < b ? a : b;
}

// 2^x to a relative 2.2e-7 for x in [-126, 126]; below, at most 2^-126; above, at least 2^126. x must be finite or NaN.
// Degree 5 minimax polynomial of 2^f on [-1/2, 1/2] (Remez; its own error is 7.5e-8).
template <int B>
[[gnu::always_inline]] inline F<B> exp2(F<B> x) {
  const auto power_of = [](F<B> f) {
    F<B> p = f * 1.327647199e-3f + 9.675541334e-3f;
    p = p * f + 5.550713273e-2f;
    p = p * f + 2.402211972e-1f;
    p = p * f + 6.931469671e-1f;
    return p * f + 1.000000072f;
  };
#if defined(__AVX512F__)
  if constexpr (B == 16) {
    const __m512 whole = _mm512_maskz_roundscale_ps(0xffff, (__m512)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    return (F<B>)_mm512_maskz_scalef_ps(0xffff, (__m512)power_of(x - (F<B>)whole), whole);
  }
#endif
  x = smaller<B>(F<B>{} + 126.0f, larger<B>(F<B>{} - 126.0f, x));
  const F<B> shifted = x + 0x1.8p23f;  // its low bits are round(x)
  const I<B> exponent = ((I<B>)shifted + (127 - 0x4b400000)) << 23;
  return power_of(x - (shifted - 0x1.8p23f)) * (F<B>)exponent;
}

inline constexpr float log2_e = 1.442695041f;

// 1 / (1 + e^-x) to a relative 5e-7 + 1e-7 |x|.
template <int B>
[[gnu::always_inline]] inline F<B> sigmoid(F<B> x) {
  return 1.0f / (1.0f + exp2<B>(x * -log2_e));
}

// GELU in its tanh form (Hendrycks & Gimpel 2016): z/2 (1 + tanh u) = z sigmoid(x), x = 2u = 2 sqrt(2/pi) (z + 0.044715 z^3).
// To a relative 5e-7 + 4e-7 |x|, as x is rounded before it becomes an exponent; the derivative to 3e-6.
inline constexpr float two_root_2_over_pi = 1.595769122f;
template <int B>
[[gnu::always_inline]] inline F<B> gelu_sigmoid(F<B> z) {
  return sigmoid<B>(two_root_2_over_pi * z * (1.0f + 0.044715f * z * z));
}
template <int B>
[[gnu::always_inline]] inline F<B> gelu(F<B> z) {
  return z * gelu_sigmoid<B>(z);
}
template <int B>
[[gnu::always_inline]] inline F<B> gelu_derivative(F<B> z) {
  const F<B> s = gelu_sigmoid<B>(z);
  return s + z * s * (1.0f - s) * two_root_2_over_pi * (1.0f + 0.134145f * z * z);
}

// f.operator()<B>(i) for blocks of 16 elements and then for single ones.
template <class Function>
[[gnu::always_inline]] inline void sweep(int64_t count, Function f) {
  int64_t i = 0;
  for (; i + 16 <= count; i += 16) f.template operator()<16>(i);
  for (; i < count; ++i) f.template operator()<1>(i);
}

// A sum over a sweep: one partial sum a lane, and one of the rest.
struct Sum {
  F<16> lanes = {};
  float rest = 0;
  [[gnu::always_inline]] void add(F<16> v) { lanes += v; }
  [[gnu::always_inline]] void add(F<1> v) { rest += v[0]; }
  float total() const {
    float sum = rest;
    for (int i = 0; i < 16; ++i) sum += lanes[i];
    return sum;
  }
};

}  // namespace erg::ERG_ISA
