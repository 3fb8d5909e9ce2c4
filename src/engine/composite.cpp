#include "engine/composite.hpp"

namespace erg {

void CompositeOp::add_part(const std::string& name, Op& op) {
  const size_t first = parts_.empty() ? 0 : parts_.back().first_parameter + parts_.back().parameters;
  parts_.push_back({name, &op, first, op.parameters().size()});
}

std::vector<ParameterSpec> CompositeOp::parameters() const {
  std::vector<ParameterSpec> all;
  for (const Part& part : parts_)
    for (ParameterSpec p : part.op->parameters()) {
      p.name = part.name + "." + p.name;
      all.push_back(std::move(p));
    }
  return all;
}

std::vector<StateView> CompositeOp::state() {
  std::vector<StateView> all;
  for (const Part& part : parts_)
    for (const StateView& s : part.op->state()) all.push_back({part.name + "." + s.name, s.data, s.size});
  return all;
}

void CompositeOp::bind(std::span<const ParameterView> views) {
  for (const Part& part : parts_) part.op->bind(views.subspan(part.first_parameter, part.parameters));
}

void CompositeOp::weights_changed() {
  for (const Part& part : parts_) part.op->weights_changed();
}

void CompositeOp::import_parameter(size_t index, const float* logical) {
  const Part& part = owner(index);
  part.op->import_parameter(index - part.first_parameter, logical);
}

void CompositeOp::export_parameter(size_t index, float* logical) const {
  const Part& part = owner(index);
  part.op->export_parameter(index - part.first_parameter, logical);
}

void CompositeOp::export_gradient(size_t index, float* logical) const {
  const Part& part = owner(index);
  part.op->export_gradient(index - part.first_parameter, logical);
}

const CompositeOp::Part& CompositeOp::owner(size_t index) const {
  for (const Part& part : parts_)
    if (index < part.first_parameter + part.parameters) return part;
  throw Error(ErrorKind::failed, "there is no parameter " + std::to_string(index), "composite op");
}

}  // namespace erg
