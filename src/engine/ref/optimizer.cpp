// AdamW (Loshchilov & Hutter 2019, algorithm 2) and SGD with momentum over flat storage, element by element as torch.optim does:
//   AdamW: w -= lr wd w;  m += (1 - beta1) (g - m);  v = beta2 v + (1 - beta2) g^2;
//          w -= lr / (1 - beta1^t) m / (sqrt(v) / sqrt(1 - beta2^t) + eps)
//   SGD:   g += wd w;  m = g at step 1, else momentum m + g;  w -= lr m
#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "engine/ref/ops.hpp"

namespace erg::ref {
namespace {

float gradient_at(const FlatStorage& s, int64_t i) {
  return s.gradient_dtype == DType::bf16 ? to_float(static_cast<const bf16_bits*>(s.gradient)[i])
                                         : static_cast<const float*>(s.gradient)[i];
}

void set_weight(const FlatStorage& s, int64_t i, float w) {
  s.master[i] = w;
  if (!s.compute || s.compute == s.master) return;
  if (s.compute_dtype == DType::bf16)
    static_cast<bf16_bits*>(s.compute)[i] = to_bf16(w);
  else
    static_cast<float*>(s.compute)[i] = w;
}

class Optimizer final : public OptimizerOp {
 public:
  void gradient_norm(const FlatStorage& s, const Tensor& norm_out) override {
    double sum = 0;
    for (int64_t i = 0; i < s.elements; ++i) sum += double(gradient_at(s, i)) * gradient_at(s, i);
    norm_out.as<float>()[0] = float(sum);
  }

  void adamw(const FlatStorage& s, const AdamWStep& a, const Tensor& norm) override {
    const float clip = a.clip > 0 ? std::min(1.0f, float(a.clip) / (std::sqrt(norm.as<float>()[0]) + 1e-6f)) : 1.0f;
    const double correction1 = 1 - std::pow(a.beta1, double(a.step)), correction2 = 1 - std::pow(a.beta2, double(a.step));
    const float step_size = float(a.learning_rate / correction1), root_correction2 = float(std::sqrt(correction2));
    const float one_minus_beta1 = float(1 - a.beta1), beta2 = float(a.beta2), one_minus_beta2 = float(1 - a.beta2),
                epsilon = float(a.epsilon);
    const float shrink = float(1 - a.learning_rate * a.weight_decay);
    for (int64_t i = 0; i < s.elements; ++i) {
      const float g = clip * gradient_at(s, i);
      float w = s.master[i], &m = s.state1[i], &v = s.state2[i];
      if (i < s.decay_elements) w *= shrink;
      m += one_minus_beta1 * (g - m);
      v = beta2 * v + one_minus_beta2 * g * g;
      set_weight(s, i, w - step_size * m / (std::sqrt(v) / root_correction2 + epsilon));
    }
  }

  void sgd(const FlatStorage& s, const SgdStep& step) override {
    const float learning_rate = float(step.learning_rate), momentum = float(step.momentum), decay = float(step.weight_decay);
    for (int64_t i = 0; i < s.elements; ++i) {
      float g = gradient_at(s, i), &m = s.state1[i];
      if (i < s.decay_elements) g += decay * s.master[i];
      m = step.step == 1 ? g : momentum * m + g;
      set_weight(s, i, s.master[i] - learning_rate * m);
    }
  }
};

}  // namespace

std::unique_ptr<OptimizerOp> make_optimizer() { return std::make_unique<Optimizer>(); }

}  // namespace erg::ref
