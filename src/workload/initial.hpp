// Initial weights by the formula of docs/reference.md: the same bits on every machine, and in PyTorch's reference runs.
#pragma once
#include "spec/spec.hpp"
#include "workload/parameters.hpp"

namespace erg {

// Standard deviation and mean of a tensor's initial values: weights are spread around 0, gammas are 1, biases and betas 0.
struct InitialValues {
  double std = 0, mean = 0;
};
InitialValues initial_values(const Parameter& parameter, const WorkloadSpec& workload);

// Fills the whole store; the stream of a tensor is its number in network order.
void initialize(ParameterStore& parameters, const WorkloadSpec& workload);

}  // namespace erg
