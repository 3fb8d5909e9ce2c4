// What surrounds the matrix products of a linear layer: GELU, and the one pass over its output gradient that makes everything the
// products of backward read.
#pragma once
#include <cstdint>

#include "core/dtype.hpp"
#include "engine/cpu/isa.hpp"

namespace erg {

// Rows are summed in at most this many parts, whatever the number of threads: results do not depend on it.
inline constexpr int64_t linear_parts = 16;

struct LinearGradient {
  DType dtype = DType::f32;
  int64_t rows = 0, columns = 0;
  const void* dy = nullptr;       // [rows, columns]
  const void* z = nullptr;        // before the activation, or null where there is none
  void* dz = nullptr;             // dy gelu'(z) [rows, columns]; not written where there is no z
  void* dz_transposed = nullptr;  // [columns, rows]
  float* column_sums = nullptr;   // of dz [columns], at the start of a workspace of linear_parts times as many
};

struct LinearKernels {
  void (*gelu)(DType dtype, const void* z, void* y, int64_t count);  // y may be z
  void (*gradient)(const LinearGradient&);
};
ERG_KERNELS(LinearKernels, linear_kernels)

}  // namespace erg
