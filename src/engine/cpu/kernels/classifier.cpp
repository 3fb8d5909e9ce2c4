// A group of rows is a thread's: first the log-sum-exp of each row while it is in the second cache, then tiles of 16 classes by 32 rows
// (16 in fp32), whose gradients are stored as they are and transposed.
#include "engine/cpu/kernels/classifier.hpp"

#include <cmath>

#include "engine/cpu/kernels/math.hpp"
#include "engine/cpu/kernels/transpose.hpp"

namespace erg::ERG_ISA {
namespace {

struct Softmax {
  float largest, log_sum;  // log p_c = logits[c] - log_sum
};

Softmax softmax(const float* logits, int64_t valid) {
  float largest = logits[0];
  F<16> lanes = F<16>{} + largest;
  sweep(valid, [&]<int B>(int64_t i) {
    const F<B> v = load_block<B>(logits + i);
    if constexpr (B == 16) {
      lanes = larger<16>(v, lanes);
    } else {
      largest = v[0] > largest ? v[0] : largest;
    }
  });
  for (int i = 0; i < 16; ++i) largest = lanes[i] > largest ? lanes[i] : largest;
  Sum sum;
  sweep(valid, [&]<int B>(int64_t i) { sum.add(exp2<B>((load_block<B>(logits + i) - largest) * log2_e)); });
  return {largest, largest + std::log(sum.total())};
}

// Whether the target is the first of the largest logits: argmax as NumPy and PyTorch have it, so that equal logits are not all hits.
float is_hit(const float* logits, int64_t target, float largest) {
  if (logits[target] != largest) return 0;
  for (int64_t c = 0; c < target; ++c)
    if (logits[c] == largest) return 0;
  return 1;
}

template <class T>
struct Train {
  static constexpr int64_t group = 32;
  const ClassifierChunk& a;
  T *d_logits = static_cast<T*>(a.d_logits), *transposed = static_cast<T*>(a.transposed);

  struct Row {
    float log_sum, scale, offset;  // d_logits = scale p - offset
    float at_target;               // where they are this
  };

  Row loss(int64_t row) const {
    const float* const logits = a.logits + row * a.classes;
    const int64_t target = a.targets[row];
    a.losses[row] = a.hits[row] = 0;
    if (target < 0) return {1e30f, 0, 0, 0};  // p = 0
    const Softmax s = softmax(logits, a.valid);
    const float log_p = logits[target] - s.log_sum, on_target = 1 - a.smoothing, spread = a.smoothing / float(a.valid);
    a.losses[row] = -on_target * log_p;
    a.hits[row] = is_hit(logits, target, s.largest);
    if (a.smoothing > 0) {
      Sum all;
      sweep(a.valid, [&]<int B>(int64_t i) { all.add(load_block<B>(logits + i) - s.log_sum); });
      a.losses[row] -= spread * all.total();
    }
    return {s.log_sum, a.scale, a.scale * spread, a.scale * (std::exp(log_p) - on_target - spread)};
  }

  template <int B>
  [[gnu::always_inline]] F<B> gradient(int64_t at, const Row& r) const {
    const F<B> d = exp2<B>((load_block<B>(a.logits + at) - r.log_sum) * log2_e) * r.scale - r.offset;
    store_block<B>(d_logits + at, d);
    return d;
  }

  void tile(int64_t row, int64_t c, const Row* rows) const {
    Words words[16];
    for (int i = 0; i < 16; ++i) {
      F<16> d[rows_per_word<T>];
      for (int k = 0; k < rows_per_word<T>; ++k) {
        const int64_t r = i * rows_per_word<T> + k, at = (row + r) * a.classes + c;
        __builtin_prefetch(a.logits + at + 128);  // too many rows side by side for the hardware to
        d[k] = gradient<16>(at, rows[r]);
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

  void cell(int64_t row, int64_t c, F<1> d) const {
    store_block<1>(d_logits + row * a.classes + c, d);
    store_block<1>(transposed + c * a.rows + row, d);
  }

  void rows(int64_t first, int64_t last) const {
    Row rows[group];
    for (int64_t r = first; r < last; ++r) rows[r - first] = loss(r);
    const int64_t tiled_classes = a.valid / 16 * 16, tiled = first + (last - first) / tile_rows<T> * tile_rows<T>;
    for (int64_t r = first; r < tiled; r += tile_rows<T>)
      for (int64_t c = 0; c < tiled_classes; c += 16) tile(r, c, rows + (r - first));
    for (int64_t r = first; r < last; ++r) {
      for (int64_t c = r < tiled ? tiled_classes : 0; c < a.valid; ++c) cell(r, c, gradient<1>(r * a.classes + c, rows[r - first]));
      for (int64_t c = a.valid; c < a.classes; ++c) cell(r, c, F<1>{});
      if (a.targets[r] >= 0) cell(r, a.targets[r], F<1>{rows[r - first].at_target});
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
    const Softmax s = softmax(logits, a.valid);
    a.losses[row] = s.log_sum - logits[target];
    a.hits[row] = is_hit(logits, target, s.largest);
  }
}

template <class T>
void row_sums(const T* rows, int64_t count, int64_t length, float* sums, bool add) {
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
