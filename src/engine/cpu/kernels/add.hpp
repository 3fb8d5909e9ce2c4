// to += what and to = what, elementwise over flat arrays of fp32 or bf16.
#pragma once
#include <cstdint>

#include "core/dtype.hpp"
#include "engine/cpu/isa.hpp"

namespace erg {

struct AddKernels {
  void (*add)(DType dtype, void* to, const void* what, int64_t count);                             // both of this dtype, summed in fp32
  void (*add_gradient)(DType dtype, void* to, const float* what, int64_t count, bool accumulate);  // to (+)= what
};
ERG_KERNELS(AddKernels, add_kernels)

}  // namespace erg
