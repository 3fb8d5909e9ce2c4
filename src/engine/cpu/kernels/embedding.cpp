#include "engine/cpu/kernels/embedding.hpp"

#include "engine/cpu/kernels/math.hpp"

namespace erg::ERG_ISA {
namespace {

template <class T>
void forward(const EmbeddingForward& a) {
#pragma omp parallel for schedule(static)
  for (int64_t row = 0; row < a.rows; ++row) {
    const T* const token = static_cast<const T*>(a.table) + a.tokens[row] * a.hidden;
    T* const y = static_cast<T*>(a.y) + row * a.hidden;
    if (a.positions == nullptr) {
      std::memcpy(y, token, size_t(a.hidden) * sizeof(T));
      continue;
    }
    const T* const position = static_cast<const T*>(a.positions) + row % a.sequence * a.hidden;
    sweep(a.hidden, [&]<int B>(int64_t i) { store_block<B>(y + i, load_block<B>(token + i) + load_block<B>(position + i)); });
  }
}

// to [hidden] += the sum of `count` rows; row(i) tells where the i-th lies.
template <class G, class Row>
void add_rows(G* to, int64_t hidden, int64_t count, Row row) {
  sweep(hidden, [&]<int B>(int64_t i) {
    F<B> sum = {};
    for (int64_t r = 0; r < count; ++r) sum += load_block<B>(row(r) + i);
    store_block<B>(to + i, load_block<B>(to + i) + sum);
  });
}

template <class T, class G>
void backward(const EmbeddingBackward& a) {
  const T* const d_y = static_cast<const T*>(a.d_y);
  const auto token_at = [&](int64_t i) { return int64_t(a.sorted[i] >> 32); };
#pragma omp parallel for schedule(static)
  for (int64_t first = 0; first < a.rows; ++first) {
    const int64_t token = token_at(first);
    if (first > 0 && token_at(first - 1) == token) continue;
    int64_t last = first + 1;
    while (last < a.rows && token_at(last) == token) ++last;
    add_rows(static_cast<G*>(a.d_table) + token * a.hidden, a.hidden, last - first,
             [&](int64_t i) { return d_y + int64_t(a.sorted[first + i] & 0xffffffffu) * a.hidden; });
  }
  if (a.d_positions == nullptr) return;
#pragma omp parallel for schedule(static)
  for (int64_t t = 0; t < a.sequence; ++t) {
    add_rows(static_cast<G*>(a.d_positions) + t * a.hidden, a.hidden, a.rows / a.sequence,
             [&](int64_t b) { return d_y + (b * a.sequence + t) * a.hidden; });
  }
}

}  // namespace

const EmbeddingKernels embedding_kernels = {
    [](const EmbeddingForward& a) { a.dtype == DType::bf16 ? forward<bf16>(a) : forward<float>(a); },
    [](const EmbeddingBackward& a) {
      if (a.gradient_dtype == DType::bf16) return a.dtype == DType::bf16 ? backward<bf16, bf16>(a) : backward<float, bf16>(a);
      a.dtype == DType::bf16 ? backward<bf16, float>(a) : backward<float, float>(a);
    },
};

}  // namespace erg::ERG_ISA
