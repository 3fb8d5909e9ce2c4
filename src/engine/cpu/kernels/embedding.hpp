// Rows of a table gathered, and their gradients scattered back without atomics: rows that fall on the same token lie next to each other
// in a sorted list and are summed by one thread in fp32, always in the same order.
#pragma once
#include <cstdint>

#include "core/dtype.hpp"
#include "engine/cpu/isa.hpp"

namespace erg {

struct EmbeddingForward {
  DType dtype = DType::f32;  // of all
  int64_t rows = 0, hidden = 0, sequence = 0;
  const int32_t* tokens = nullptr;                    // [rows]
  const void *table = nullptr, *positions = nullptr;  // [*, hidden]; positions may be null
  void* y = nullptr;                                  // [rows, hidden]
};

// A row of d_y and the token it belongs to: sorting these keeps rows of a token in order.
inline uint64_t token_row(int32_t token, int64_t row) { return uint64_t(token) << 32 | uint64_t(row); }

struct EmbeddingBackward {
  DType dtype = DType::f32, gradient_dtype = DType::f32;
  int64_t rows = 0, hidden = 0, sequence = 0;
  const void* d_y = nullptr;         // [rows, hidden]
  const uint64_t* sorted = nullptr;  // token_row of each row, ascending
  void* d_table = nullptr;           // added to
  void* d_positions = nullptr;       // added to; may be null
};

struct EmbeddingKernels {
  void (*forward)(const EmbeddingForward&);
  void (*backward)(const EmbeddingBackward&);
};
ERG_KERNELS(EmbeddingKernels, embedding_kernels)

}  // namespace erg
