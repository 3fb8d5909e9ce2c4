// One attention head, packed: rows of q, k, v or d_y copied out of their strided tensor, rotated where positions are rotary, padded with
// zeros, and turned into the forms that multiply() takes. Only for kernels/*.cpp, like bf16.hpp.
//   rows       [sequence, size]                   as the left operand
//   turned     [block][size, N]                   as the left operand
//   by_size    [block][size / w, N, w]            as the right operand of products that sum over the head's size
//   by_row     [block][N / w, size, w]            as the right operand of products that sum over the sequence
// with w = 2 for bf16, whose pairs are multiplied together, and 1 for fp32. A block of N positions is one piece of memory: rows of a whole
// sequence would lie powers of two apart and fall on a few sets of the first cache.
#pragma once
#include "engine/cpu/kernels/attention.hpp"
#include "engine/cpu/kernels/math.hpp"
#include "engine/cpu/kernels/multiply.hpp"
#include "engine/cpu/kernels/transpose.hpp"

namespace erg::ERG_ISA {

constexpr int64_t rounded_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

// What all tasks of one attention call have in common. T: of tensors.
template <class T>
struct Heads {
  const Attention& a;
  int64_t sequence = rounded_up(a.sequence, attention_block), size = rounded_up(a.head_size, 32);  // padded
  int64_t elements = sequence * size;
  float scale = 1 / __builtin_sqrtf(float(a.head_size));

  int64_t tasks() const { return a.batch * a.heads * a.parts; }
  int64_t at_y(int64_t head) const { return (head / a.heads * a.sequence * a.heads + head % a.heads) * a.head_size; }
  int64_t at_qkv(int64_t head, int64_t which) const {
    return ((head / a.heads * a.sequence * 3 + which) * a.heads + head % a.heads) * a.head_size;
  }
  int64_t y_stride() const { return a.heads * a.head_size; }
  int64_t qkv_stride() const { return 3 * a.heads * a.head_size; }

  const T* qkv(int64_t head, int64_t which) const { return static_cast<const T*>(a.qkv) + at_qkv(head, which); }
  T* d_qkv(int64_t head, int64_t which) const { return static_cast<T*>(a.d_qkv) + at_qkv(head, which); }

  // Rows of a head lie pages apart, where no hardware prefetches: some rows ahead we do.
  void prefetch(const T* row, int64_t stride) const {
    for (int64_t i = 0; i < a.head_size; i += 64 / int64_t(sizeof(T))) __builtin_prefetch(row + 16 * stride + i);
  }

  template <class C>
  void load(const T* from, int64_t stride, bool rotate, C* rows) const {
    const int64_t d = a.head_size, half = d / 2;
    std::memset(rows, 0, size_t(elements) * sizeof(C));
    for (int64_t t = 0; t < a.sequence; ++t, from += stride, rows += size) {
      prefetch(from, stride);
      if (rotate && a.cos) {
        const float *cos = a.cos + t * half, *sin = a.sin + t * half;
#pragma omp simd
        for (int64_t i = 0; i < half; ++i) {
          const float x = ERG_ISA::load(from[i]), y = ERG_ISA::load(from[i + half]);
          store(rows + i, x * cos[i] - y * sin[i]);
          store(rows + i + half, y * cos[i] + x * sin[i]);
        }
      } else {
#pragma omp simd
        for (int64_t i = 0; i < d; ++i) store(rows + i, ERG_ISA::load(from[i]));
      }
    }
  }

  // Rows [first, last) of a gradient, times `factor`, turned back where rotary.
  void store_rows(const float* rows, int64_t first, int64_t last, float factor, bool rotate, T* to, int64_t stride) const {
    const int64_t d = a.head_size, half = d / 2;
    to += first * stride;
    for (int64_t t = first; t < last; ++t, rows += size, to += stride) {
      if (rotate && a.cos) {
        const float *cos = a.cos + t * half, *sin = a.sin + t * half;
#pragma omp simd
        for (int64_t i = 0; i < half; ++i) {
          const float x = factor * rows[i], y = factor * rows[i + half];
          store(to + i, x * cos[i] + y * sin[i]);
          store(to + i + half, y * cos[i] - x * sin[i]);
        }
      } else {
#pragma omp simd
        for (int64_t i = 0; i < d; ++i) store(to + i, factor * rows[i]);
      }
    }
  }

  int64_t last_row(int64_t block) const {
    const int64_t last = (block + 1) * attention_block;
    return last < a.sequence ? last : a.sequence;
  }
};

// from [rows, columns] -> to [columns, rows].
template <class C>
void turn(const C* from, int64_t rows, int64_t columns, C* to) {
  for (int64_t r = 0; r < rows; r += tile_rows<C>) {
    for (int64_t c = 0; c < columns; c += 16) {
      Words words[16];
      for (int i = 0; i < 16; ++i) {
        const C* const row = from + (r + i * rows_per_word<C>)*columns + c;
        if constexpr (sizeof(C) == 2) {
          words[i] = weave(row, row + columns);
        } else {
          words[i] = load_raw<Words>(row);
        }
      }
      transpose_words(words);
      for (int i = 0; i < 16; ++i) std::memcpy(to + (c + i) * rows + r, &words[i], sizeof(Words));
    }
  }
}

// Each block of a sequence.
template <class C>
void turn_blocks(const C* from, int64_t sequence, int64_t size, C* to) {
  constexpr int64_t N = attention_block;
  for (int64_t at = 0; at < sequence * size; at += N * size) turn(from + at, N, size, to + at);
}

// The same with a pair as one word.
template <class C>
void pack_by_size(const C* from, int64_t sequence, int64_t size, C* to) {
  turn_blocks(reinterpret_cast<const float*>(from), sequence, size / woven<C>, reinterpret_cast<float*>(to));
}

// from [rows, columns] -> to [rows / w, columns, w].
template <class C>
void pack_by_row(const C* from, int64_t rows, int64_t columns, C* to) {
  if constexpr (woven<C> == 1) {
    std::memcpy(to, from, size_t(rows * columns) * sizeof(C));
  } else {
    for (int64_t r = 0; r < rows; r += 2)
      for (int64_t c = 0; c < columns; c += 16) {
        const Words words = weave(from + r * columns + c, from + (r + 1) * columns + c);
        std::memcpy(to + r * columns + 2 * c, &words, sizeof words);
      }
  }
}

// Two rows of 16 sums as rows 2r and 2r + 1 of a right operand that is packed by row.
[[gnu::always_inline]] inline void store_pair(float* to, int64_t columns, F<16> first, F<16> second) {
  store_block<16>(to, first);
  store_block<16>(to + columns, second);
}
[[gnu::always_inline]] inline void store_pair(bf16* to, int64_t, F<16> first, F<16> second) {
  const Words words = weave(first, second);
  std::memcpy(to, &words, sizeof words);
}

// The products of a block of keys and one of queries; on the diagonal, where half of the pairs are keys that come later than the query,
// a quarter is left out.
inline constexpr int64_t half_block = attention_block / 2;

// c [keys, queries] = keys [keys, size] queries [size, queries]
template <bool diagonal, class C>
void multiply_scores(int64_t size, const C* keys, const C* queries, float* c) {
  constexpr int64_t N = attention_block, H = half_block;
  if (!diagonal) return multiply<false>(N, N, size, keys, size, queries, N, c, N);
  multiply<false>(H, N, size, keys, size, queries, N, c, N);
  multiply<false>(H, H, size, keys + H * size, size, queries + H * woven<C>, N, c + H * N + H, N);
}
// c [m, queries] (+)= a [m, keys] p [keys, queries]
template <bool add, bool diagonal, class C>
void multiply_over_keys(int64_t m, const C* a, const C* p, float* c) {
  constexpr int64_t N = attention_block, H = half_block;
  if (!diagonal) return multiply<add>(m, N, N, a, N, p, N, c, N);
  multiply<add>(m, H, H, a, N, p, N, c, N);
  multiply<add>(m, H, N, a, N, p + H * woven<C>, N, c + H, N);
}
// c [keys, n] (+)= p [keys, queries] b [queries, n]
template <bool add, bool diagonal, class C>
void multiply_over_queries(int64_t n, const C* p, const C* b, float* c) {
  constexpr int64_t N = attention_block, H = half_block;
  if (!diagonal) return multiply<add>(N, n, N, p, N, b, n, c, n);
  multiply<add>(H, n, N, p, N, b, n, c, n);
  multiply<add>(H, n, H, p + H * N + H, N, b + H * n, n, c + H * n, n);
}

// Hands out a thread's part of the workspace, in whole cache lines.
class Arena {
 public:
  explicit Arena(void* start) : next_(static_cast<char*>(start)) {}
  template <class X>
  X* take(int64_t count) {
    X* const p = reinterpret_cast<X*>(next_);
    next_ += rounded_up(count * int64_t(sizeof(X)), 64);
    return p;
  }
  int64_t taken_since(const void* start) const { return next_ - static_cast<const char*>(start); }

 private:
  char* next_;
};

inline constexpr F<16> lane_numbers = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

}  // namespace erg::ERG_ISA
