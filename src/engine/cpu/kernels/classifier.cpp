#include "engine/cpu/kernels/classifier.hpp"

#include <cmath>

#include "engine/cpu/kernels/math.hpp"

namespace erg::ERG_ISA {
namespace {

constexpr float lowest = -1e30f;

// The workspace: first [rows] each, then [parts, rows].
struct Space {
  float* target_logit;
  float* first_in_part;                 // 1 where the target has the largest logit of its part, and is the first that has it
  float *log_sum, *offset, *at_target;  // log p = logit - log_sum; d_logits = scale p - offset, but at the target at_target
  float *largest, *sums, *totals;
  explicit Space(const ClassifierChunk& a) {
    const int64_t of_parts = a.rows * a.blocks() * classifier_parts;
    target_logit = a.workspace, first_in_part = target_logit + a.rows, log_sum = first_in_part + a.rows;
    offset = log_sum + a.rows, at_target = offset + a.rows;
    largest = at_target + a.rows, sums = largest + of_parts, totals = a.smoothing > 0 ? sums + of_parts : nullptr;
  }
};

// Classes [first, last) of a part of a block, counted from the block's first.
struct Range {
  int64_t first, last, valid;  // valid: where those that take part in the softmax end
  Range(const ClassifierChunk& a, int64_t block, int64_t part) {
    const int64_t count = a.classes_of(block), left = a.valid - a.first_class(block);
    first = count * part / classifier_parts, last = count * (part + 1) / classifier_parts;
    valid = left < first ? first : left < last ? left : last;
  }
};

// f.operator()<n>(c) for groups of 8 classes and then for single ones.
template <class Function>
[[gnu::always_inline]] inline void in_groups(int64_t first, int64_t last, Function f) {
  int64_t c = first;
  for (; c + 8 <= last; c += 8) f.template operator()<8>(c);
  for (; c < last; ++c) f.template operator()<1>(c);
}

template <class T>
void part_exponentials(const ClassifierChunk& a, int64_t block, int64_t part, float* logits) {
  const Range range(a, block, part);
  const Space s(a);
  const int64_t at = (block * classifier_parts + part) * a.rows, start = a.first_class(block);
  float *const largest = s.largest + at, *const sums = s.sums + at;
  T* const p = static_cast<T*>(a.p) + start * a.rows;
  for (int64_t r = 0; r < a.rows; ++r) largest[r] = lowest, sums[r] = 0;
  for (int64_t c = range.first; a.bias != nullptr && c < range.valid; ++c) {
    float* const row = logits + c * a.rows;
    sweep(a.rows, [&]<int B>(int64_t i) { store_block<B>(row + i, load_block<B>(row + i) + a.bias[start + c]); });
  }
  in_groups(range.first, range.valid, [&]<int n>(int64_t c) {
    sweep(a.rows, [&]<int B>(int64_t i) {
      F<B> most = load_block<B>(largest + i);
      for (int k = 0; k < n; ++k) most = larger<B>(load_block<B>(logits + (c + k) * a.rows + i), most);
      store_block<B>(largest + i, most);
    });
  });
  for (int64_t r = 0; r < a.rows; ++r) {
    const int64_t target = a.targets[r] - start;
    if (target < range.first || target >= range.valid) continue;
    s.target_logit[r] = logits[target * a.rows + r];
    s.first_in_part[r] = s.target_logit[r] == largest[r];
    for (int64_t c = range.first; s.first_in_part[r] != 0 && c < target; ++c) s.first_in_part[r] = logits[c * a.rows + r] != largest[r];
  }
  if (float* const totals = s.totals ? s.totals + at : nullptr) {
    std::memset(totals, 0, size_t(a.rows) * sizeof(float));
    for (int64_t c = range.first; c < range.valid; ++c)
      sweep(a.rows,
            [&]<int B>(int64_t i) { store_block<B>(totals + i, load_block<B>(totals + i) + load_block<B>(logits + c * a.rows + i)); });
  }
  in_groups(range.first, range.valid, [&]<int n>(int64_t c) {
    sweep(a.rows, [&]<int B>(int64_t i) {
      const F<B> most = load_block<B>(largest + i);
      F<B> sum = load_block<B>(sums + i);
      for (int k = 0; k < n; ++k) {
        const F<B> e = exp2<B>((load_block<B>(logits + (c + k) * a.rows + i) - most) * log2_e);
        store_block<B>(p + (c + k) * a.rows + i, e);
        sum += e;
      }
      store_block<B>(sums + i, sum);
    });
  });
}

template <class T>
void exponentials(const ClassifierChunk& a, int64_t block, float* logits) {
#pragma omp parallel for schedule(static)
  for (int64_t part = 0; part < classifier_parts; ++part) part_exponentials<T>(a, block, part, logits);
}

// Whether the target is the first of the largest logits: argmax as NumPy and PyTorch have it, so that equal logits are not all hits.
bool is_hit(const ClassifierChunk& a, const Space& s, int64_t row, float largest) {
  if (s.target_logit[row] != largest || s.first_in_part[row] == 0) return false;
  const int64_t target = a.targets[row], block = target / a.block;
  int64_t part = 0;  // the first that has it
  while (s.largest[part * a.rows + row] != largest) ++part;
  return part / classifier_parts == block && target - a.first_class(block) < Range(a, block, part % classifier_parts).last;
}

void row_loss(const ClassifierChunk& a, const Space& s, int64_t row, float largest, float sum, float total) {
  a.losses[row] = a.hits[row] = 0;
  s.log_sum[row] = -lowest, s.offset[row] = s.at_target[row] = 0;
  if (a.targets[row] < 0) return;  // p = 0
  const float log_sum = largest + std::log(sum), log_p = s.target_logit[row] - log_sum;
  const float on_target = 1 - a.smoothing, spread = a.smoothing / float(a.valid);
  a.losses[row] = -on_target * log_p;
  if (a.smoothing > 0) a.losses[row] -= spread * (total - float(a.valid) * log_sum);
  a.hits[row] = is_hit(a, s, row, largest);
  s.log_sum[row] = log_sum;
  s.offset[row] = a.scale * spread;
  s.at_target[row] = a.scale * (std::exp(log_p) - on_target - spread);
}

void losses(const ClassifierChunk& a) {
  const Space s(a);
  const int64_t parts = a.blocks() * classifier_parts;
#pragma omp parallel for schedule(static)
  for (int64_t first = 0; first < a.rows; first += 16) {
    sweep(first + 16 < a.rows ? 16 : a.rows - first, [&]<int B>(int64_t i) {
      const int64_t row = first + i;
      F<B> largest = load_block<B>(s.largest + row), sum = {}, total = {};
      for (int64_t p = 1; p < parts; ++p) largest = larger<B>(load_block<B>(s.largest + p * a.rows + row), largest);
      for (int64_t p = 0; p < parts; ++p) {
        const int64_t at = p * a.rows + row;
        sum += load_block<B>(s.sums + at) * exp2<B>((load_block<B>(s.largest + at) - largest) * log2_e);
        if (s.totals != nullptr) total += load_block<B>(s.totals + at);
      }
      for (int k = 0; k < B; ++k) row_loss(a, s, row + k, largest[k], sum[k], total[k]);
    });
  }
}

template <class T>
void gradient(const ClassifierChunk& a, int64_t block) {
  const Space s(a);
  T* const d_logits = static_cast<T*>(a.p) + a.first_class(block) * a.rows;
#pragma omp parallel for schedule(static)
  for (int64_t part = 0; part < classifier_parts; ++part) {
    const Range range(a, block, part);
    const int64_t at = (block * classifier_parts + part) * a.rows;
    float* const factor = s.sums + at;  // has been read
    sweep(a.rows, [&]<int B>(int64_t i) {
      store_block<B>(factor + i, exp2<B>((load_block<B>(s.largest + at + i) - load_block<B>(s.log_sum + i)) * log2_e) * a.scale);
    });
    for (int64_t c = range.first; c < range.valid; ++c) {
      T* const d = d_logits + c * a.rows;
      sweep(a.rows, [&]<int B>(int64_t i) {
        store_block<B>(d + i, load_block<B>(d + i) * load_block<B>(factor + i) - load_block<B>(s.offset + i));
      });
    }
    std::memset(d_logits + range.valid * a.rows, 0, size_t((range.last - range.valid) * a.rows) * sizeof(T));
    for (int64_t r = 0; r < a.rows; ++r) {
      const int64_t target = a.targets[r] - a.first_class(block);
      if (target >= range.first && target < range.last) store(d_logits + target * a.rows + r, s.at_target[r]);
    }
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
    [](const ClassifierChunk& a, int64_t block, float* logits) {
      a.dtype == DType::bf16 ? exponentials<bf16>(a, block, logits) : exponentials<float>(a, block, logits);
    },
    losses,
    [](const ClassifierChunk& a, int64_t block) { a.dtype == DType::bf16 ? gradient<bf16>(a, block) : gradient<float>(a, block); },
    [](DType dtype, const void* rows, int64_t count, int64_t length, float* sums, bool add) {
      if (dtype == DType::bf16) return row_sums(static_cast<const bf16*>(rows), count, length, sums, add);
      row_sums(static_cast<const float*>(rows), count, length, sums, add);
    },
};

}  // namespace erg::ERG_ISA
