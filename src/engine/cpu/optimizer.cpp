// AdamW and SGD over flat storage: constants of the step are made here in double, the arrays are swept by kernels/optimizer.cpp.
#include "engine/cpu/kernels/optimizer.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "engine/cpu/ops.hpp"

namespace erg {
namespace {

OptimizerArrays arrays(const FlatStorage& s) {
  if (s.compute && s.compute_dtype != DType::bf16 && s.compute != s.master) {
    throw Error(ErrorKind::usage, "compute copies of weights are bf16, not " + std::string(name_of(s.compute_dtype)), "optimizer");
  }
  OptimizerArrays a;
  a.elements = s.elements;
  a.decay_elements = s.decay_elements;
  a.master = s.master;
  a.copy = s.compute == s.master ? nullptr : s.compute;
  a.gradient = s.gradient;
  a.gradient_dtype = s.gradient_dtype;
  a.state1 = s.state1;
  a.state2 = s.state2;
  return a;
}

class Optimizer final : public OptimizerOp {
 public:
  void gradient_norm(const FlatStorage& s, const Tensor& norm_out) override {
    double sums[norm_parts], sum = 0;
    optimizer_kernels().squares(s.gradient_dtype, s.gradient, s.elements, sums);
    for (const double part : sums) sum += part;
    norm_out.as<float>()[0] = float(sum);
  }

  void adamw(const FlatStorage& s, const AdamWStep& step, const Tensor& norm) override {
    const double correction1 = 1 - std::pow(step.beta1, double(step.step)), correction2 = 1 - std::pow(step.beta2, double(step.step));
    AdamW a;
    a.clip = step.clip > 0 ? std::min(1.0f, float(step.clip) / (std::sqrt(norm.as<float>()[0]) + 1e-6f)) : 1.0f;
    a.shrink = float(1 - step.learning_rate * step.weight_decay);
    a.one_minus_beta1 = float(1 - step.beta1);
    a.beta2 = float(step.beta2);
    a.one_minus_beta2 = float(1 - step.beta2);
    a.step_size = float(step.learning_rate / correction1);
    a.root_correction2 = float(std::sqrt(correction2));
    a.epsilon = float(step.epsilon);
    optimizer_kernels().adamw(arrays(s), a);
  }

  void sgd(const FlatStorage& s, const SgdStep& step) override {
    const Sgd a{float(step.learning_rate), float(step.momentum), float(step.weight_decay), step.step == 1};
    optimizer_kernels().sgd(arrays(s), a);
  }
};

}  // namespace

std::unique_ptr<OptimizerOp> make_cpu_optimizer(CpuEngine&) { return std::make_unique<Optimizer>(); }

}  // namespace erg
