// Transposition of 16 x 16 words of 32 bits in registers. Two rows of bf16 are first woven into one row of words, so that a column
// comes out as 32 consecutive bf16. Only for kernels/*.cpp, like bf16.hpp.
#pragma once
#include <utility>

#include "engine/cpu/kernels/vector.hpp"

namespace erg::ERG_ISA {

using Words = Vec<16>::U;

template <class T>
inline constexpr int64_t rows_per_word = sizeof(T) == 2 ? 2 : 1;
template <class T>
inline constexpr int64_t tile_rows = 16 * rows_per_word<T>;  // of a tile of 16 columns

// Swaps blocks of D x D words across the diagonal of each block of 2D x 2D.
template <int D, int... L>
[[gnu::always_inline]] inline void swap_blocks(Words* r, std::integer_sequence<int, L...>) {
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) {
    if (i & D) continue;
    const Words a = r[i], b = r[i + D];
    r[i] = __builtin_shufflevector(a, b, (L & D ? L - D + 16 : L)...);
    r[i + D] = __builtin_shufflevector(a, b, (L & D ? L + 16 : L + D)...);
  }
}
[[gnu::always_inline]] inline void transpose_words(Words* r) {
  constexpr auto lanes = std::make_integer_sequence<int, 16>();
  swap_blocks<1>(r, lanes);
  swap_blocks<2>(r, lanes);
  swap_blocks<4>(r, lanes);
  swap_blocks<8>(r, lanes);
}

// Two rows of floats, rounded to bf16, as words: the first in the lower half.
[[gnu::always_inline]] inline Words weave(F<16> first, F<16> second) {
#if defined(__AVX512BF16__)
  typedef uint16_t Halves __attribute__((vector_size(64)));
  const Halves h = (Halves)_mm512_cvtne2ps_pbh((__m512)second, (__m512)first);
  return (Words)__builtin_shufflevector(h, h, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28,
                                        13, 29, 14, 30, 15, 31);
#else
  const auto rounded = [](F<16> v) {  // in the upper half of each word; to nearest even, NaN stays NaN
    const Words u = (Words)v;
    return (v == v) ? u + 0x7fffu + ((u >> 16) & 1u) : u | 0x400000u;
  };
  return (rounded(first) >> 16) | (rounded(second) & 0xffff0000u);
#endif
}
[[gnu::always_inline]] inline Words weave(const bf16* first, const bf16* second) {
  typedef uint16_t Halves __attribute__((vector_size(64)));
  const auto a = load_raw<Vec<16>::Half>(first), b = load_raw<Vec<16>::Half>(second);
  const Halves h = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23, 8, 24, 9, 25, 10, 26, 11, 27, 12,
                                           28, 13, 29, 14, 30, 15, 31);
  return (Words)h;
}

}  // namespace erg::ERG_ISA
