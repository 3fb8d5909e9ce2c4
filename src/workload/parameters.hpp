// The trainable tensors of a network in one flat storage, so that the optimizer is one pass over memory whatever the network.
// Ops declare their tensors; this places them, allocates masters, gradients and optimizer state, and binds the ops to them.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.hpp"

namespace erg {

// One tensor in the flat storage.
struct Parameter {
  std::string name;  // "h.0.qkv.weight"
  ParameterSpec spec;
  int64_t offset = 0;  // its first element in the flat storage
};

class ParameterStore {
 public:
  // Ops are added in network order, which numbers their parameters: initial weights are a formula of that number.
  // `tied_to` names an earlier parameter: the op's first tensor lies there instead of in a place of its own.
  void add(const std::string& name, Trainable& op, const std::string& tied_to = {});

  // Lays out, allocates and binds.
  void allocate(Engine& engine, DType compute, DType gradient);
  // fp32 optimizer states per element, 1 (SGD) or 2 (AdamW). After import_all: what that holds on the host is then no part of the peak.
  void allocate_moments(Engine& engine, int moments);

  // Fills every tensor: fill(number, parameter, logical) writes row-major fp32 values of parameter.spec.shape.
  using Fill = std::function<void(size_t number, const Parameter& parameter, std::vector<float>& logical)>;
  void import_all(const Fill& fill);
  std::vector<float> gradient(size_t number) const;  // logical row-major values: copies to the host
  void weights_changed();                            // after every optimizer step

  const std::vector<Parameter>& parameters() const { return parameters_; }  // tied ones once
  const FlatStorage& flat() const { return flat_; }

 private:
  struct Owner {
    Trainable* op;
    std::vector<size_t> numbers;  // of its tensors, in the op's order
  };
  size_t find(const std::string& name) const;
  void lay_out();
  void* take(Engine& engine, DType dtype, const char* purpose);
  void bind();

  std::vector<Parameter> parameters_;
  std::vector<std::pair<size_t, size_t>> homes_;  // per parameter: its owner, and its index there
  std::vector<Owner> owners_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  FlatStorage flat_;
};

}  // namespace erg
