// Residual add and layer normalisation (Ba, Kiros & Hinton 2016), each direction in one pass over the rows.
//   r = x + delta;  xhat = (r - mean) rstd, rstd = 1 / sqrt(var + epsilon);  y = gamma xhat + beta
#pragma once
#include <cstdint>

#include "core/dtype.hpp"
#include "engine/cpu/isa.hpp"

namespace erg {

struct ResidualNorm {
  DType dtype = DType::f32;
  int64_t rows = 0, hidden = 0;
  float epsilon = 1e-5f;
  const float *gamma = nullptr, *beta = nullptr;
  float *mean = nullptr, *rstd = nullptr;  // [rows]: forward writes them, backward reads them; null: not kept

  const void *x = nullptr, *delta = nullptr;  // forward: delta is null where there is no residual, then r is not written
  void *r = nullptr, *y = nullptr;

  const void *d_y = nullptr, *d_r = nullptr;    // backward, beside r: d_r may be null
  void* d_x = nullptr;                          // may be d_r, or null
  float *d_gamma = nullptr, *d_beta = nullptr;  // [hidden], written
  float* partials = nullptr;                    // residual_norm_parts sums of d_gamma and d_beta
};

// Rows are summed in this many parts, whatever the number of threads: results do not depend on it.
inline constexpr int64_t residual_norm_parts = 32;
inline int64_t residual_norm_partials(int64_t hidden) { return residual_norm_parts * 2 * hidden; }

struct ResidualNormKernels {
  void (*forward)(const ResidualNorm&);
  void (*backward)(const ResidualNorm&);
};
ERG_KERNELS(ResidualNormKernels, residual_norm_kernels)

}  // namespace erg
