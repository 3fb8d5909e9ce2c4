// Parameters of ops in and out, for storage that starts with the logical values in row-major order.
#include "engine/op.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace erg {
namespace {

const ParameterView& bound_view(const std::vector<ParameterView>& views, size_t index) {
  if (index >= views.size()) throw Error(ErrorKind::failed, "parameters are read or written before they were bound", "Trainable::bind");
  return views[index];
}

}  // namespace

void import_plain(const ParameterView& to, const float* logical, int64_t count) {
  std::copy_n(logical, count, to.master);
  if (!to.compute || to.compute == to.master) return;
  if (to.compute_dtype == DType::bf16)
    std::transform(logical, logical + count, static_cast<bf16_bits*>(to.compute), to_bf16);
  else if (to.compute_dtype == DType::f32)
    std::copy_n(logical, count, static_cast<float*>(to.compute));
  else
    throw Error(ErrorKind::usage, "compute copies of weights are fp32 or bf16", "import_parameter");
}

void export_plain(const ParameterView& from, float* logical, int64_t count) { std::copy_n(from.master, count, logical); }

void export_plain_gradient(const ParameterView& from, float* logical, int64_t count) {
  if (from.gradient_dtype == DType::f32)
    std::copy_n(static_cast<const float*>(from.gradient), count, logical);
  else if (from.gradient_dtype == DType::bf16)
    std::transform(static_cast<const bf16_bits*>(from.gradient), static_cast<const bf16_bits*>(from.gradient) + count, logical, to_float);
  else
    throw Error(ErrorKind::usage, "gradients are fp32 or bf16", "export_gradient");
}

void Trainable::import_parameter(size_t index, const float* logical) {
  import_plain(bound_view(bound_, index), logical, elements(parameters()[index].shape));
}

void Trainable::export_parameter(size_t index, float* logical) const {
  export_plain(bound_view(bound_, index), logical, elements(parameters()[index].shape));
}

void Trainable::export_gradient(size_t index, float* logical) const {
  export_plain_gradient(bound_view(bound_, index), logical, elements(parameters()[index].shape));
}

}  // namespace erg
