// A small matrix product whose operands lie in cache, for what oneDNN has no primitive for: flash attention's blocks.
//   c [m, n] = or += a [m, k] b [k, n], c in fp32; m a multiple of 4, n and k of 16.
// a is row-major. b is row-major too for floats; for bf16 two rows of k are woven, b [k / 2][n][2], as vdpbf16ps multiplies them.
// Only for kernels/*.cpp, like bf16.hpp.
#pragma once
#include "engine/cpu/kernels/vector.hpp"

namespace erg::ERG_ISA {

#if defined(__AVX512BF16__)
template <class T>
using Multiplied = T;  // what tensors of T are multiplied as
#else
template <class T>
using Multiplied = float;
#endif

template <class C>
inline constexpr int64_t woven = sizeof(C) == 2 ? 2 : 1;  // rows of k in one row of b

[[gnu::always_inline]] inline F<16> multiply_add(F<16> c, const float* a, F<16> b) { return c + *a * b; }
#if defined(__AVX512BF16__)
[[gnu::always_inline]] inline F<16> multiply_add(F<16> c, const bf16* a, F<16> b) {
  int32_t pair;
  std::memcpy(&pair, a, 4);
  return (F<16>)_mm512_dpbf16_ps((__m512)c, (__m512bh)_mm512_set1_epi32(pair), (__m512bh)b);
}
#endif

// As many columns at once as accumulators fit the registers: 4 rows x 64 columns of AVX-512's, 4 x 16 of others.
#if defined(__AVX512F__)
inline constexpr int widest_tile = 4;
#else
inline constexpr int widest_tile = 1;
#endif

template <bool add, int vectors, class C>
inline void multiply_tile(int64_t k, const C* a, int64_t lda, const C* b, int64_t ldb, float* c, int64_t ldc) {
  F<16> sums[4][vectors];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < vectors; ++j) sums[i][j] = add ? load_block<16>(c + i * ldc + j * 16) : F<16>{};
  for (int64_t p = 0; p < k; p += woven<C>, b += ldb * woven<C>) {
    F<16> row[vectors];
#pragma GCC unroll 4
    for (int j = 0; j < vectors; ++j) row[j] = load_raw<F<16>>(b + j * 16 * woven<C>);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < vectors; ++j) sums[i][j] = multiply_add(sums[i][j], a + i * lda + p, row[j]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < vectors; ++j) store_block<16>(c + i * ldc + j * 16, sums[i][j]);
}

// lda, ldc: elements between rows; ldb: columns of b in memory.
template <bool add, class C>
inline void multiply(int64_t m, int64_t n, int64_t k, const C* a, int64_t lda, const C* b, int64_t ldb, float* c, int64_t ldc) {
  int64_t at = 0;
  const auto columns = [&]<int vectors> {
    for (; at + 16 * vectors <= n; at += 16 * vectors)
      for (int64_t i = 0; i < m; i += 4) multiply_tile<add, vectors>(k, a + i * lda, lda, b + at * woven<C>, ldb, c + i * ldc + at, ldc);
  };
  columns.template operator()<widest_tile>();
  if constexpr (widest_tile > 2) columns.template operator()<2>();
  if constexpr (widest_tile > 1) columns.template operator()<1>();
}

}  // namespace erg::ERG_ISA
