// A row fits the first cache, so sweeping it three times costs what reading it once does.
#include "engine/cpu/kernels/residual_norm.hpp"

#include <cmath>

#include "engine/cpu/kernels/math.hpp"

namespace erg::ERG_ISA {
namespace {

template <class T>
void forward_row(const ResidualNorm& a, int64_t row) {
  const int64_t at = row * a.hidden;
  const T *x = static_cast<const T*>(a.x) + at, *r = x;
  T* const y = static_cast<T*>(a.y) + at;
  if (a.delta != nullptr) {
    const T* const delta = static_cast<const T*>(a.delta) + at;
    T* const sum = static_cast<T*>(a.r) + at;
    sweep(a.hidden, [&]<int B>(int64_t i) { store_block<B>(sum + i, load_block<B>(x + i) + load_block<B>(delta + i)); });
    r = sum;  // as stored: what backward will read
  }
  Sum sum, squares;
  sweep(a.hidden, [&]<int B>(int64_t i) { sum.add(load_block<B>(r + i)); });
  const float mean = sum.total() / float(a.hidden);
  sweep(a.hidden, [&]<int B>(int64_t i) {
    const F<B> centered = load_block<B>(r + i) - mean;
    squares.add(centered * centered);
  });
  const float rstd = 1 / std::sqrt(squares.total() / float(a.hidden) + a.epsilon);
  sweep(a.hidden, [&]<int B>(int64_t i) {
    store_block<B>(y + i, (load_block<B>(r + i) - mean) * rstd * load_block<B>(a.gamma + i) + load_block<B>(a.beta + i));
  });
  if (a.mean == nullptr) return;
  a.mean[row] = mean;
  a.rstd[row] = rstd;
}

// With g = gamma d_y and means over the row:  d_x = d_r + rstd (g - mean(g) - xhat mean(g xhat))
template <class T>
void backward_row(const ResidualNorm& a, int64_t row, float* d_gamma, float* d_beta) {
  const int64_t at = row * a.hidden;
  const T *r = static_cast<const T*>(a.r) + at, *d_y = static_cast<const T*>(a.d_y) + at;
  const float mean = a.mean[row], rstd = a.rstd[row];
  Sum sum_g, sum_g_xhat;
  sweep(a.hidden, [&]<int B>(int64_t i) {
    const F<B> dy = load_block<B>(d_y + i), xhat = (load_block<B>(r + i) - mean) * rstd, g = dy * load_block<B>(a.gamma + i);
    store_block<B>(d_beta + i, load_block<B>(d_beta + i) + dy);
    store_block<B>(d_gamma + i, load_block<B>(d_gamma + i) + dy * xhat);
    sum_g.add(g);
    sum_g_xhat.add(g * xhat);
  });
  if (a.d_x == nullptr) return;
  T* const d_x = static_cast<T*>(a.d_x) + at;
  const T* const d_r = a.d_r ? static_cast<const T*>(a.d_r) + at : nullptr;
  const float mean_g = sum_g.total() / float(a.hidden), mean_g_xhat = sum_g_xhat.total() / float(a.hidden);
  sweep(a.hidden, [&]<int B>(int64_t i) {
    const F<B> xhat = (load_block<B>(r + i) - mean) * rstd;
    F<B> d = rstd * (load_block<B>(d_y + i) * load_block<B>(a.gamma + i) - mean_g - xhat * mean_g_xhat);
    if (d_r != nullptr) d += load_block<B>(d_r + i);
    store_block<B>(d_x + i, d);
  });
}

template <class T>
void forward(const ResidualNorm& a) {
#pragma omp parallel for schedule(static)
  for (int64_t row = 0; row < a.rows; ++row) forward_row<T>(a, row);
}

template <class T>
void backward(const ResidualNorm& a) {
#pragma omp parallel for schedule(static)
  for (int64_t part = 0; part < residual_norm_parts; ++part) {
    float *d_gamma = a.partials + part * 2 * a.hidden, *d_beta = d_gamma + a.hidden;
    std::memset(d_gamma, 0, size_t(2 * a.hidden) * sizeof(float));
    const int64_t last = a.rows * (part + 1) / residual_norm_parts;
    for (int64_t row = a.rows * part / residual_norm_parts; row < last; ++row) backward_row<T>(a, row, d_gamma, d_beta);
  }
  sweep(a.hidden, [&]<int B>(int64_t i) {
    F<B> d_gamma = {}, d_beta = {};
    for (int64_t part = 0; part < residual_norm_parts; ++part) {
      d_gamma += load_block<B>(a.partials + part * 2 * a.hidden + i);
      d_beta += load_block<B>(a.partials + (part * 2 + 1) * a.hidden + i);
    }
    store_block<B>(a.d_gamma + i, d_gamma);
    store_block<B>(a.d_beta + i, d_beta);
  });
}

}  // namespace

const ResidualNormKernels residual_norm_kernels = {
    [](const ResidualNorm& a) { a.dtype == DType::bf16 ? forward<bf16>(a) : forward<float>(a); },
    [](const ResidualNorm& a) { a.dtype == DType::bf16 ? backward<bf16>(a) : backward<float>(a); },
};

}  // namespace erg::ERG_ISA
