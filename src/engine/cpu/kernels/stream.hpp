// Streams over memory, as STREAM has them (McCalpin 1995). Each thread has one contiguous part, the same in every stream.
#pragma once
#include <cstdint>

#include "engine/cpu/isa.hpp"

namespace erg {

struct StreamKernels {
  bool non_temporal;  // stores go past the caches, so that no line is read only to be overwritten
  // fp32 arrays of `count` values, 64-byte aligned.
  void (*fill)(float* a, float scalar, int64_t count);
  double (*read)(const float* b, int64_t count);  // the sum of b
  void (*copy)(float* a, const float* b, int64_t count);
  void (*triad)(float* a, const float* b, const float* c, float scalar, int64_t count);  // a = b + scalar * c
};
ERG_KERNELS(StreamKernels, stream_kernels)

}  // namespace erg
