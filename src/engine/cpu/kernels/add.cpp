// Elementwise sums: memory speed is all there is to them.
#include "engine/cpu/kernels/add.hpp"

#include "engine/cpu/kernels/bf16.hpp"

namespace erg::ERG_ISA {
namespace {

template <class T>
void add(T* to, const T* what, int64_t count) {
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < count; ++i) store(to + i, load(to[i]) + load(what[i]));
}

template <class T>
void add_gradient(T* to, const float* what, int64_t count, bool accumulate) {
  if (accumulate) {
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < count; ++i) store(to + i, load(to[i]) + what[i]);
  } else {
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < count; ++i) store(to + i, what[i]);
  }
}

}  // namespace

const AddKernels add_kernels = {
    [](DType dtype, void* to, const void* what, int64_t count) {
      if (dtype == DType::bf16) return add(static_cast<bf16*>(to), static_cast<const bf16*>(what), count);
      add(static_cast<float*>(to), static_cast<const float*>(what), count);
    },
    [](DType dtype, void* to, const float* what, int64_t count, bool accumulate) {
      if (dtype == DType::bf16) return add_gradient(static_cast<bf16*>(to), what, count, accumulate);
      add_gradient(static_cast<float*>(to), what, count, accumulate);
    },
};

}  // namespace erg::ERG_ISA
