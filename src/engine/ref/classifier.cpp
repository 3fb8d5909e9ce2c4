// Linear + softmax + cross-entropy with label smoothing (Szegedy et al. 2016, section 7), a row at a time:
//   p = softmax(x W^T + b) over the K valid classes;  q = (1 - smoothing) [c = target] + smoothing / K
//   loss = -sum q log p;  d_logits = loss_scale (p - q)
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "engine/ref/matrix.hpp"
#include "engine/ref/ops.hpp"
#include "engine/ref/values.hpp"

namespace erg::ref {
namespace {

class Classifier final : public ClassifierOp {
 public:
  Classifier(Engine& engine, const ClassifierDesc& d) : engine_(engine), d_(d), valid_(d.valid_classes ? d.valid_classes : d.classes) {
    Workspace::reserve(engine, 2 * d.rows * d.in + 2 * d.classes * d.in + 2 * d.classes);
  }

  std::vector<ParameterSpec> parameters() const override {
    std::vector<ParameterSpec> p{{"weight", {d_.classes, d_.in}, d_.classes * d_.in, true, true}};
    if (d_.bias) p.push_back({"bias", {d_.classes}, d_.classes, false, false});
    return p;
  }

  void train(const Tensor& x_tensor, const Tensor& targets, const Tensor& d_x_tensor, const Tensor& metrics,
             Accumulate accumulate) override {
    Workspace work(engine_);
    const float *x = work.load(x_tensor), *w = work.weights(bound()[0], d_.classes * d_.in);
    float *logits = work.zeros(d_.classes), *d_x = work.zeros(d_.rows * d_.in), *d_w = work.zeros(d_.classes * d_.in);
    float* d_b = work.zeros(d_.classes);
    const float smoothing = d_.label_smoothing, spread = smoothing / float(valid_), scale = float(d_.loss_scale);
    for_each_row(targets, [&](int64_t row, int64_t target) {
      const float *x_row = x + row * d_.in, log_sum = log_softmax(x_row, w, logits);
      double sum_log_p = 0;
      for (int64_t c = 0; c < valid_; ++c) sum_log_p += logits[c] - log_sum;
      record(metrics, -((1 - smoothing) * (logits[target] - log_sum) + spread * sum_log_p), logits, target);
      for (int64_t c = 0; c < valid_; ++c) {
        const float q = (c == target ? 1 - smoothing : 0) + spread;
        const float d_logit = rounded(d_.dtype, scale * (std::exp(logits[c] - log_sum) - q));
        add_scaled(d_x + row * d_.in, d_logit, w + c * d_.in, d_.in);
        add_scaled(d_w + c * d_.in, d_logit, x_row, d_.in);
        d_b[c] += d_logit;
      }
    });
    if (d_x_tensor) store(d_x_tensor, d_x);
    store_gradient(bound()[0], d_w, d_.classes * d_.in, accumulate);
    if (d_.bias) store_gradient(bound()[1], d_b, d_.classes, accumulate);
  }

  void evaluate(const Tensor& x_tensor, const Tensor& targets, const Tensor& metrics) override {
    Workspace work(engine_);
    const float *x = work.load(x_tensor), *w = work.weights(bound()[0], d_.classes * d_.in);
    float* logits = work.zeros(d_.classes);
    for_each_row(targets, [&](int64_t row, int64_t target) {
      const float log_sum = log_softmax(x + row * d_.in, w, logits);
      record(metrics, log_sum - logits[target], logits, target);
    });
  }

 private:
  template <class F>
  void for_each_row(const Tensor& targets, F f) const {
    for (int64_t row = 0; row < d_.rows; ++row) {
      const int64_t target = targets.as<int32_t>()[row];
      if (target == -1) continue;
      if (target < 0 || target >= valid_)
        throw Error(ErrorKind::usage, fmt::format("target {} is none of {} classes", target, valid_), "classifier");
      f(row, target);
    }
  }

  // Fills the logits and returns log sum exp: log p_c = logits[c] - result.
  float log_softmax(const float* x, const float* w, float* logits) const {
    for (int64_t c = 0; c < valid_; ++c) logits[c] = dot(x, w + c * d_.in, d_.in) + (d_.bias ? bound()[1].master[c] : 0);
    const float largest = *std::max_element(logits, logits + valid_);
    double sum = 0;
    for (int64_t c = 0; c < valid_; ++c) sum += std::exp(logits[c] - largest);
    return largest + float(std::log(sum));
  }

  void record(const Tensor& metrics, double loss, const float* logits, int64_t target) const {
    metrics.as<float>()[0] += float(loss);
    metrics.as<float>()[1] += std::max_element(logits, logits + valid_) - logits == target ? 1.0f : 0.0f;
  }

  Engine& engine_;
  ClassifierDesc d_;
  int64_t valid_;
};

}  // namespace

std::unique_ptr<ClassifierOp> make_classifier(Engine& engine, const ClassifierDesc& desc) {
  return std::make_unique<Classifier>(engine, desc);
}

}  // namespace erg::ref
