// Transposition of 16 x 16 words of 32 bits in registers. Two rows of bf16 are first woven into one row of words, so that a column
// comes out as 32 consecutive bf16. Only for kernels/*.cpp, like bf16.hpp.
#pragma once
#include <utility>

#include "engine/cpu/kernels/vector.hpp"

namespace erg::ERG_ISA {

using Words = Vec<16>::U;

template <class T> inline constexpr int64_t rows_per_word = sizeof(T) == 2 ? 2 : 1;
template <class T> inline constexpr int64_t tile_rows = 16 * rows_per_word<T>;       // of a tile of 16 columns

// Swaps blocks of D x D words across the diagonal of each block of 2D x 2D.
template <int D, int... L> [[gnu::always_inline]] inline void swap_blocks(Words* r, std::integer_sequence<int, L...>) {
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

// The bits of bf16 in the upper half of each word, rounded to nearest even; NaN stays NaN.
[[gnu::always_inline]] inline Words rounded_to_upper(F<16> v) {
  const Words u = (Words)v;
  return (v == v) ? u + 0x7fffu + ((u >> 16) & 1u) : u | 0x400000u;
}
// Two rows of bf16, made of floats, as words: the first in the lower half.
[[gnu::always_inline]] inline Words weave(F<16> first, F<16> second) {
  return (rounded_to_upper(first) >> 16) | (rounded_to_upper(second) & 0xffff0000u);
}
[[gnu::always_inline]] inline Words weave(const bf16* first, const bf16* second) {
  return __builtin_convertvector(load_raw<Vec<16>::Half>(first), Words) | (__builtin_convertvector(load_raw<Vec<16>::Half>(second), Words) << 16);
}

}  // namespace erg::ERG_ISA
