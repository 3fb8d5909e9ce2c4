#include "workload/parameters.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace erg {
namespace {

constexpr int64_t alignment = 64;  // elements: a cache line of bf16 holds 32, one of fp32 16, and vectors never straddle tensors

int64_t align(int64_t n) { return (n + alignment - 1) / alignment * alignment; }

char* at(void* base, int64_t offset, DType dtype) { return base ? static_cast<char*>(base) + offset * bytes_of(dtype) : nullptr; }

}  // namespace

void ParameterStore::add(const std::string& name, Trainable& op, const std::string& tied_to) {
  Owner owner{&op, {}};
  for (const ParameterSpec& spec : op.parameters()) {
    if (owner.numbers.empty() && !tied_to.empty()) {
      const size_t number = find(tied_to);
      if (parameters_[number].spec.shape != spec.shape || parameters_[number].spec.storage != spec.storage) {
        throw Error(ErrorKind::failed, name + "." + spec.name + " can't be tied to " + tied_to + ": their storage differs", "parameters");
      }
      owner.numbers.push_back(number);
      continue;
    }
    homes_.emplace_back(owners_.size(), owner.numbers.size());
    owner.numbers.push_back(parameters_.size());
    parameters_.push_back({name + "." + spec.name, spec, 0});
  }
  owners_.push_back(std::move(owner));
}

size_t ParameterStore::find(const std::string& name) const {
  const auto it = std::find_if(parameters_.begin(), parameters_.end(), [&](const Parameter& p) { return p.name == name; });
  if (it == parameters_.end()) throw Error(ErrorKind::failed, "no parameter is named " + name, "parameters");
  return size_t(it - parameters_.begin());
}

void ParameterStore::lay_out() {
  for (const bool decay : {true, false}) {  // decayed first, so that weight decay is a prefix
    for (Parameter& p : parameters_) {
      if (p.spec.decay != decay) continue;
      p.offset = flat_.elements;
      flat_.elements += align(p.spec.storage);
    }
    if (decay) flat_.decay_elements = flat_.elements;
  }
}

void* ParameterStore::take(Engine& engine, DType dtype, const char* purpose) {
  buffers_.push_back(engine.allocate(flat_.elements * bytes_of(dtype), purpose));
  return buffers_.back()->data();
}

void ParameterStore::allocate(Engine& engine, DType compute, DType gradient) {
  lay_out();
  flat_.compute_dtype = compute;
  flat_.gradient_dtype = gradient;
  flat_.master = static_cast<float*>(take(engine, DType::f32, "master weights"));
  if (compute != DType::f32) flat_.compute = take(engine, compute, "weights");
  flat_.gradient = take(engine, gradient, "gradients");
  bind();
}

void ParameterStore::allocate_moments(Engine& engine, int moments) {
  flat_.state1 = static_cast<float*>(take(engine, DType::f32, "optimizer state"));
  if (moments > 1) flat_.state2 = static_cast<float*>(take(engine, DType::f32, "optimizer state"));
}

void ParameterStore::bind() {
  for (const Owner& owner : owners_) {
    std::vector<ParameterView> views;
    for (const size_t number : owner.numbers) {
      const Parameter& p = parameters_[number];
      ParameterView view;
      view.master = flat_.master + p.offset;
      if (p.spec.compute_copy) view.compute = flat_.compute ? at(flat_.compute, p.offset, flat_.compute_dtype) : (void*)view.master;
      view.gradient = at(flat_.gradient, p.offset, flat_.gradient_dtype);
      view.gradient_dtype = flat_.gradient_dtype;
      view.compute_dtype = flat_.compute_dtype;
      views.push_back(view);
    }
    owner.op->bind(views);
  }
}

void ParameterStore::import_all(const Fill& fill) {
  for (size_t number = 0; number < parameters_.size(); ++number) {
    std::vector<float> logical(size_t(elements(parameters_[number].spec.shape)));
    fill(number, parameters_[number], logical);
    const auto [owner, index] = homes_[number];
    owners_[owner].op->import_parameter(index, logical.data());
  }
  weights_changed();
}

std::vector<float> ParameterStore::gradient(size_t number) const {
  std::vector<float> logical(size_t(elements(parameters_[number].spec.shape)));
  const auto [owner, index] = homes_[number];
  owners_[owner].op->export_gradient(index, logical.data());
  return logical;
}

void ParameterStore::weights_changed() {
  for (const Owner& owner : owners_) owner.op->weights_changed();
}

}  // namespace erg
