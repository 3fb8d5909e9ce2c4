// A group of rows is a thread's: first the exponentials of each row while it is in the second cache, then tiles of 16 classes by 32 rows
// (16 in fp32) are scaled, stored and transposed.
#include "engine/cpu/kernels/classifier.hpp"

#include <cmath>

#include "engine/cpu/kernels/math.hpp"
#include "engine/cpu/kernels/transpose.hpp"

namespace erg::ERG_ISA {
namespace {

struct Softmax {
  float largest, log_sum;                        // log p_c = logits[c] - log_sum
  float sum;                                     // of exp(logits - largest)
};

template <class Each> Softmax softmax(const float* logits, int64_t valid, Each each) {
  float largest = logits[0];
  F<16> lanes = F<16>{} + largest;
  sweep(valid, [&]<int B>(int64_t i) {
    const F<B> v = load_block<B>(logits + i);
    if constexpr (B == 16) {
      lanes = v > lanes ? v : lanes;
    } else {
      largest = v[0] > largest ? v[0] : largest;
    }
  });
  for (int i = 0; i < 16; ++i) largest = lanes[i] > largest ? lanes[i] : largest;
  Sum sum;
  sweep(valid, [&]<int B>(int64_t i) {
    const F<B> e = exp2<B>((load_block<B>(logits + i) - largest) * log2_e);
    sum.add(e);
    each(i, e);
  });
  const float total = sum.total();
  return {largest, largest + std::log(total), total};
}

template <class T> struct Train {
  static constexpr int64_t group = 32;
  const ClassifierChunk& a;
  T *d_logits = static_cast<T*>(a.d_logits), *transposed = static_cast<T*>(a.transposed);

  // What a row's exponentials are multiplied with, and what is taken off.
  struct Row { float factor, offset; };

  // Leaves exp(logits - largest) in the row, and at the target what gives p - (1 - smoothing) instead of p.
  Row exponentials(int64_t row) const {
    float* const logits = a.logits + row * a.classes;
    for (int64_t c = a.valid; c < a.classes; ++c) logits[c] = 0;
    const int64_t target = a.targets[row];
    a.losses[row] = a.hits[row] = 0;
    if (target < 0) {
      std::memset(logits, 0, size_t(a.valid) * sizeof(float));
      return {0, 0};
    }
    const float of_target = logits[target];
    Sum all;
    if (a.smoothing > 0) sweep(a.valid, [&]<int B>(int64_t i) { all.add(load_block<B>(logits + i)); });
    const Softmax s = softmax(logits, a.valid, [&]<class V>(int64_t i, V e) { std::memcpy(logits + i, &e, sizeof e); });
    const float on_target = 1 - a.smoothing, spread = a.smoothing / float(a.valid);
    a.losses[row] = on_target * (s.log_sum - of_target) + (a.smoothing > 0 ? a.smoothing * s.log_sum - spread * all.total() : 0);
    a.hits[row] = of_target == s.largest ? 1 : 0;
    logits[target] -= on_target * s.sum;
    return {a.scale / s.sum, a.scale * spread};
  }

  void tile(int64_t row, int64_t c, const Row* rows) const {
    Words words[16];
    for (int i = 0; i < 16; ++i) {
      F<16> d[rows_per_word<T>];
      for (int k = 0; k < rows_per_word<T>; ++k) {
        const int64_t r = i * rows_per_word<T> + k, at = (row + r) * a.classes + c;
        d[k] = load_block<16>(a.logits + at) * rows[r].factor - rows[r].offset;
        store_block<16>(d_logits + at, d[k]);
      }
      if constexpr (rows_per_word<T> == 2) {
        words[i] = weave(d[0], d[1]);
      } else {
        words[i] = (Words)d[0];
      }
    }
    transpose_words(words);
    for (int i = 0; i < 16; ++i) std::memcpy(transposed + (c + i) * a.rows + row, &words[i], sizeof(Words));
  }

  void cell(int64_t row, int64_t c, Row r) const {
    const F<1> d = load_block<1>(a.logits + row * a.classes + c) * r.factor - r.offset;
    store_block<1>(d_logits + row * a.classes + c, d);
    store_block<1>(transposed + c * a.rows + row, d);
  }

  void rows(int64_t first, int64_t last) const {
    Row rows[group];
    for (int64_t r = first; r < last; ++r) rows[r - first] = exponentials(r);
    const int64_t tiled = a.valid / 16 * 16;
    int64_t r = first;
    for (; r + tile_rows<T> <= last; r += tile_rows<T>)
      for (int64_t c = 0; c < tiled; c += 16) tile(r, c, rows + (r - first));
    for (int64_t row = r; row < last; ++row)
      for (int64_t c = 0; c < tiled; ++c) cell(row, c, rows[row - first]);
    for (int64_t row = first; row < last; ++row) {
      for (int64_t c = tiled; c < a.valid; ++c) cell(row, c, rows[row - first]);
      for (int64_t c = a.valid; c < a.classes; ++c) cell(row, c, {0, 0});
    }
  }

  void operator()() const {
    const int64_t groups = (a.rows + group - 1) / group;
#pragma omp parallel for schedule(static)
    for (int64_t g = 0; g < groups; ++g) rows(g * group, (g + 1) * group < a.rows ? (g + 1) * group : a.rows);
  }
};

void evaluate(const ClassifierChunk& a) {
#pragma omp parallel for schedule(static)
  for (int64_t row = 0; row < a.rows; ++row) {
    const int64_t target = a.targets[row];
    a.losses[row] = a.hits[row] = 0;
    if (target < 0) continue;
    const float* const logits = a.logits + row * a.classes;
    const Softmax s = softmax(logits, a.valid, [](int64_t, auto) {});
    a.losses[row] = s.log_sum - logits[target];
    a.hits[row] = logits[target] == s.largest ? 1 : 0;
  }
}

template <class T> void row_sums(const T* rows, int64_t count, int64_t length, float* sums, bool add) {
#pragma omp parallel for schedule(static)
  for (int64_t row = 0; row < count; ++row) {
    Sum sum;
    sweep(length, [&]<int B>(int64_t i) { sum.add(load_block<B>(rows + row * length + i)); });
    sums[row] = (add ? sums[row] : 0) + sum.total();
  }
}

}  // namespace

const ClassifierKernels classifier_kernels = {
    [](const ClassifierChunk& a) { a.dtype == DType::bf16 ? Train<bf16>{a}() : Train<float>{a}(); },
    evaluate,
    [](DType dtype, const void* rows, int64_t count, int64_t length, float* sums, bool add) {
      if (dtype == DType::bf16) return row_sums(static_cast<const bf16*>(rows), count, length, sums, add);
      row_sums(static_cast<const float*>(rows), count, length, sums, add);
    },
};

}  // namespace erg::ERG_ISA
