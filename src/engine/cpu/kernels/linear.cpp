// The gradient pass goes down stripes of columns, in parts of the rows, so that the sums of a part are one thread's; within a stripe, tiles
// as wide as a cache line are transposed in registers and leave as whole cache lines. (Rows of some widths all fall on a few sets of the
// first cache, so that a line must be used up at once.)
#include "engine/cpu/kernels/linear.hpp"

#include "engine/cpu/kernels/math.hpp"
#include "engine/cpu/kernels/transpose.hpp"

namespace erg::ERG_ISA {
namespace {

constexpr int64_t stripe = 128;

template <class T>
void gelu_forward(const T* z, T* y, int64_t count) {
  constexpr int64_t chunk = 4096;
#pragma omp parallel for schedule(static)
  for (int64_t at = 0; at < count; at += chunk) {
    const int64_t length = count - at < chunk ? count - at : chunk;
    sweep(length, [&]<int B>(int64_t i) { store_block<B>(y + at + i, gelu<B>(load_block<B>(z + at + i))); });
  }
}

template <class T, bool activated>
struct Gradient {
  const LinearGradient& a;
  const T *dy = static_cast<const T*>(a.dy), *z = static_cast<const T*>(a.z);
  T *dz = static_cast<T*>(a.dz), *transposed = static_cast<T*>(a.dz_transposed);

  template <int B>
  [[gnu::always_inline]] F<B> value(int64_t row, int64_t column) const {
    const int64_t at = row * a.columns + column;
    F<B> g = load_block<B>(dy + at);
    if constexpr (activated) {
      g *= gelu_derivative<B>(load_block<B>(z + at));
      store_block<B>(dz + at, g);
    }
    return g;
  }

  static constexpr int tile_columns = 64 / sizeof(T), parts = tile_columns / 16;

  void tile(int64_t row, int64_t column, F<16>* sums) const {
    Words words[parts][16];
    for (int i = 0; i < 16; ++i) {
      for (int k = 0; k < parts; ++k) {
        if constexpr (rows_per_word<T> == 2) {
          const F<16> first = value<16>(row + 2 * i, column + 16 * k), second = value<16>(row + 2 * i + 1, column + 16 * k);
          sums[k] += first + second;
          words[k][i] = weave(first, second);
        } else {
          const F<16> g = value<16>(row + i, column + 16 * k);
          sums[k] += g;
          words[k][i] = (Words)g;
        }
      }
    }
    for (int k = 0; k < parts; ++k) {
      transpose_words(words[k]);
      for (int i = 0; i < 16; ++i) std::memcpy(transposed + (column + 16 * k + i) * a.rows + row, &words[k][i], sizeof(Words));
    }
  }

  void cell(int64_t row, int64_t column, float& sum) const {
    const F<1> g = value<1>(row, column);
    store_block<1>(transposed + column * a.rows + row, g);
    sum += g[0];
  }

  // Columns [first, last) of rows [first_row, last_row), of which the first is a tile's; their sums.
  void columns(int64_t first, int64_t last, int64_t first_row, int64_t last_row, float* column_sums) const {
    F<16> sums[stripe / 16] = {};
    float cells[stripe] = {};
    const int64_t tiled_rows = first_row + (last_row - first_row) / tile_rows<T> * tile_rows<T>,
                  tiled = first + (last - first) / tile_columns * tile_columns;
    for (int64_t row = first_row; row < tiled_rows; row += tile_rows<T>) {
      for (int64_t c = first; c < tiled; c += tile_columns) tile(row, c, sums + (c - first) / 16);
      for (int64_t c = tiled; c < last; ++c)
        for (int64_t r = row; r < row + tile_rows<T>; ++r) cell(r, c, cells[c - first]);
    }
    for (int64_t row = tiled_rows; row < last_row; ++row)
      for (int64_t c = first; c < last; ++c) cell(row, c, cells[c - first]);
    for (int64_t c = first; c < last; ++c) column_sums[c] = cells[c - first] + (c < tiled ? sums[(c - first) / 16][(c - first) % 16] : 0);
  }

  void operator()() const {
    const int64_t stripes = (a.columns + stripe - 1) / stripe, tiles = (a.rows + tile_rows<T> - 1) / tile_rows<T>;
    const int64_t part = (tiles + linear_parts - 1) / linear_parts * tile_rows<T>, parts = (a.rows + part - 1) / part;
#pragma omp parallel for collapse(2) schedule(static)
    for (int64_t s = 0; s < stripes; ++s) {
      for (int64_t p = 0; p < parts; ++p) {
        const int64_t last = (s + 1) * stripe < a.columns ? (s + 1) * stripe : a.columns;
        columns(s * stripe, last, p * part, (p + 1) * part < a.rows ? (p + 1) * part : a.rows, a.column_sums + p * a.columns);
      }
    }
    for (int64_t p = 1; p < parts; ++p)
      for (int64_t c = 0; c < a.columns; ++c) a.column_sums[c] += a.column_sums[p * a.columns + c];
  }
};

template <class T>
void gradient(const LinearGradient& a) {
  if (a.z != nullptr) return Gradient<T, true>{a}();
  Gradient<T, false>{a}();
}

}  // namespace

const LinearKernels linear_kernels = {
    [](DType dtype, const void* z, void* y, int64_t count) {
      if (dtype == DType::bf16) return gelu_forward(static_cast<const bf16*>(z), static_cast<bf16*>(y), count);
      gelu_forward(static_cast<const float*>(z), static_cast<float*>(y), count);
    },
    [](const LinearGradient& a) { a.dtype == DType::bf16 ? gradient<bf16>(a) : gradient<float>(a); },
};

}  // namespace erg::ERG_ISA
