// An op made of others: their parameters and states are its own, under the part's name.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "engine/op.hpp"

namespace erg {

class CompositeOp : public Op {
 public:
  std::vector<ParameterSpec> parameters() const override;
  std::vector<StateView> state() override;
  void bind(std::span<const ParameterView> views) override;
  void weights_changed() override;
  void import_parameter(size_t index, const float* logical) override;
  void export_parameter(size_t index, float* logical) const override;
  void export_gradient(size_t index, float* logical) const override;

 protected:
  // The parts stay owned by whoever derives from this.
  void add_part(const std::string& name, Op& op);

 private:
  struct Part {
    std::string name;
    Op* op;
    size_t first_parameter, parameters;
  };
  const Part& owner(size_t index) const;

  std::vector<Part> parts_;
};

}  // namespace erg
