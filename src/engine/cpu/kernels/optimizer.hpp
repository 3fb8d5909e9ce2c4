// Optimizer steps over flat arrays: everything is read and written once, memory speed is the limit.
#pragma once
#include <cstdint>

#include "core/dtype.hpp"
#include "engine/cpu/isa.hpp"

namespace erg {

struct OptimizerArrays {
  int64_t elements = 0, decay_elements = 0;  // elements [0, decay_elements) decay
  float* master = nullptr;
  void* copy = nullptr;  // bf16, or null
  const void* gradient = nullptr;
  DType gradient_dtype = DType::f32;
  float *state1 = nullptr, *state2 = nullptr;
};

// g = clip gradient;  w *= shrink;  m += beta1' (g - m);  v = beta2 v + beta2' g^2;  w -= step m / (sqrt(v) / root_correction2 + epsilon)
struct AdamW {
  float clip, shrink, one_minus_beta1, beta2, one_minus_beta2, step_size, root_correction2, epsilon;
};
// g = gradient + decay w;  m = momentum m + g, or g in the first step;  w -= learning_rate m
struct Sgd {
  float learning_rate, momentum, decay;
  bool first;
};

inline constexpr int64_t norm_parts = 256;  // of the sum of squares, whatever the number of threads

struct OptimizerKernels {
  void (*squares)(DType dtype, const void* gradient, int64_t elements, double* sums);  // norm_parts sums
  void (*adamw)(const OptimizerArrays&, const AdamW&);
  void (*sgd)(const OptimizerArrays&, const Sgd&);
};
ERG_KERNELS(OptimizerKernels, optimizer_kernels)

}  // namespace erg
