#include "workload/initial.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <thread>

#include "core/rng.hpp"

namespace erg {
namespace {

// On all threads: the largest models have hundreds of millions of values.
void fill_centered(std::vector<float>& values, uint64_t seed, uint64_t stream, double std) {
  constexpr size_t chunk = 1 << 20;  // fewer values are not worth a thread
  const size_t threads = std::clamp<size_t>(values.size() / chunk, 1, std::max(1u, std::thread::hardware_concurrency()));
  const auto fill = [&](size_t part) {
    const size_t end = values.size() * (part + 1) / threads;
    for (size_t i = values.size() * part / threads; i < end; ++i) values[i] = random_centered(seed, stream, i, std);
  };
  std::vector<std::jthread> others;
  for (size_t part = 1; part < threads; ++part) others.emplace_back(fill, part);
  fill(0);
}

}  // namespace

InitialValues initial_values(const Parameter& parameter, const WorkloadSpec& workload) {
  const std::string_view name = parameter.name;
  const Shape& shape = parameter.spec.shape;
  if (name.ends_with("expand.gamma")) return {0, 0.25};  // of every bottleneck's last norm: docs/reference.md says why not 1
  if (name.ends_with("gamma")) return {0, 1};
  if (shape.size() == 1) return {0, 0};  // betas and biases
  if (shape.size() == 4) {               // He et al. 2015 (arXiv 1502.01852), equation 14, fan-out
    return {std::sqrt(2.0 / double(shape[0] * shape[2] * shape[3])), 0};
  }
  if (workload.kind == WorkloadKind::resnet50) return {0.01, 0};
  // What feeds the residual stream is scaled by the number of such branches (Radford et al. 2019, section 2.3).
  const bool to_stream = name.ends_with(".proj.weight") || name.ends_with(".down.weight");
  return {to_stream ? 0.02 / std::sqrt(2.0 * double(workload.gpt.layers)) : 0.02, 0};
}

void initialize(ParameterStore& parameters, const WorkloadSpec& workload) {
  parameters.import_all([&](size_t number, const Parameter& parameter, std::vector<float>& logical) {
    const InitialValues initial = initial_values(parameter, workload);
    if (initial.std > 0) {
      fill_centered(logical, workload.seed, number, initial.std);
    } else {
      std::fill(logical.begin(), logical.end(), float(initial.mean));
    }
  });
}

}  // namespace erg
