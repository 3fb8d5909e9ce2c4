// Products of row-major matrices, in the three forms that a linear layer and its gradients take.
#pragma once
#include <cstdint>

namespace erg::ref {

// Eight partial sums: the compiler vectorises them, and rounding errors grow more slowly.
inline float dot(const float* a, const float* b, int64_t n) {
  float sums[8] = {};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int64_t j = 0; j < 8; ++j) sums[j] += a[i + j] * b[i + j];
  for (; i < n; ++i) sums[0] += a[i] * b[i];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

inline void add_scaled(float* to, float factor, const float* what, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] += factor * what[i];
}

// y [rows, out] += x [rows, in] w^T, w [out, in]
inline void add_x_wt(float* y, const float* x, const float* w, int64_t rows, int64_t in, int64_t out) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t o = 0; o < out; ++o) y[r * out + o] += dot(x + r * in, w + o * in, in);
}

// d_x [rows, in] += d_y [rows, out] w
inline void add_dy_w(float* d_x, const float* d_y, const float* w, int64_t rows, int64_t in, int64_t out) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t o = 0; o < out; ++o) add_scaled(d_x + r * in, d_y[r * out + o], w + o * in, in);
}

// d_w [out, in] += d_y^T x
inline void add_dyt_x(float* d_w, const float* d_y, const float* x, int64_t rows, int64_t in, int64_t out) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t o = 0; o < out; ++o) add_scaled(d_w + o * in, d_y[r * out + o], x + r * in, in);
}

}  // namespace erg::ref
