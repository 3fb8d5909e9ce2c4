// A block of channels as one vector of floats, whatever the registers' real width (GCC and Clang vector extensions), and the call
// of a template for a tensor's dtype and block. Only for kernels/*.cpp, like bf16.hpp.
#pragma once
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#include "engine/cpu/kernels/bf16.hpp"
#include "engine/cpu/kernels/planes.hpp"

namespace erg::ERG_ISA {

template <int B>
struct Vec {
  typedef float F __attribute__((vector_size(B * 4)));
  typedef int32_t I __attribute__((vector_size(B * 4)));  // also what comparing two F gives: all ones where true
  typedef uint32_t U __attribute__((vector_size(B * 4)));
  typedef uint16_t Half __attribute__((vector_size(B * 2)));
  typedef uint8_t Byte __attribute__((vector_size(B)));
};
template <int B>
using F = typename Vec<B>::F;
template <int B>
using I = typename Vec<B>::I;

template <class V>
[[gnu::always_inline]] inline V load_raw(const void* p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <int B>
[[gnu::always_inline]] inline F<B> load_block(const float* p) {
  return load_raw<F<B>>(p);
}
template <int B>
[[gnu::always_inline]] inline F<B> load_block(const bf16* p) {
  using U = typename Vec<B>::U;
  const U u = __builtin_convertvector(load_raw<typename Vec<B>::Half>(p), U) << 16;
  return (F<B>)u;
}
template <int B>
[[gnu::always_inline]] inline void store_block(float* p, F<B> v) {
  std::memcpy(p, &v, sizeof v);
}
template <int B>
[[gnu::always_inline]] inline void store_block(bf16* p, F<B> v) {  // nearest even; NaN stays NaN
  using U = typename Vec<B>::U;
  const U u = (U)v;
  const U rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
  const U bits = (v == v) ? rounded : (u >> 16) | 0x40u;
  const typename Vec<B>::Half h = __builtin_convertvector(bits, typename Vec<B>::Half);
  std::memcpy(p, &h, sizeof h);
}
#if defined(__AVX512BF16__)
template <>
[[gnu::always_inline]] inline void store_block<16>(bf16* p, F<16> v) {  // one instruction; denormals become 0
  const __m256bh h = _mm512_cvtneps_pbh((__m512)v);
  std::memcpy(p, &h, sizeof h);
}
#endif

// f.operator()<T, B>() for the tensor's element type and block.
template <class Function>
void with_type(const Planes& p, Function f) {
  if (p.dtype == DType::bf16) {
    if (p.block == 16) return f.template operator()<bf16, 16>();
    if (p.block == 8) return f.template operator()<bf16, 8>();
    return f.template operator()<bf16, 1>();
  }
  if (p.block == 16) return f.template operator()<float, 16>();
  if (p.block == 8) return f.template operator()<float, 8>();
  return f.template operator()<float, 1>();
}

}  // namespace erg::ERG_ISA
