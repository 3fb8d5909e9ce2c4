// Linear layer with bias and GELU in its tanh form (Hendrycks & Gimpel 2016):
//   z = x W^T + b;  y = z or gelu(z) = z/2 (1 + tanh(sqrt(2/pi) (z + 0.044715 z^3)))
#include <cmath>
#include <numbers>

#include "engine/recomputable.hpp"
#include "engine/ref/matrix.hpp"
#include "engine/ref/ops.hpp"
#include "engine/ref/values.hpp"

namespace erg::ref {
namespace {

const float root_2_over_pi = std::sqrt(2.0f / std::numbers::pi_v<float>);

float gelu(float z) { return 0.5f * z * (1 + std::tanh(root_2_over_pi * (z + 0.044715f * z * z * z))); }

float gelu_derivative(float z) {
  const float t = std::tanh(root_2_over_pi * (z + 0.044715f * z * z * z));
  return 0.5f * (1 + t) + 0.5f * z * (1 - t * t) * root_2_over_pi * (1 + 3 * 0.044715f * z * z);
}

class Linear : public Op {
 public:
  Linear(Engine& engine, const LinearDesc& d) : engine_(engine), d_(d) {
    if (d.activation == Activation::gelu_tanh) z_ = Saved(engine, d.dtype, {d.rows, d.out});
    Workspace::reserve(engine, 2 * d.rows * d.in + 2 * d.rows * d.out + 2 * d.out * d.in + d.out);
  }

  std::vector<ParameterSpec> parameters() const override {
    std::vector<ParameterSpec> p{{"weight", {d_.out, d_.in}, d_.out * d_.in, true, true}};
    if (d_.bias) p.push_back({"bias", {d_.out}, d_.out, false, false});
    return p;
  }

  void forward(Inputs in, Inputs out, Mode mode) override {
    Workspace work(engine_);
    const float *x = work.load(in[0]), *w = work.weights(bound()[0], d_.out * d_.in);
    float* y = work.zeros(d_.rows * d_.out);
    add_x_wt(y, x, w, d_.rows, d_.in, d_.out);
    if (d_.bias)
      for (int64_t i = 0; i < d_.rows * d_.out; ++i) y[i] += bound()[1].master[i % d_.out];
    if (d_.activation == Activation::gelu_tanh) {
      if (mode == Mode::train) store(z_.tensor(), y);
      for (int64_t i = 0; i < d_.rows * d_.out; ++i) y[i] = gelu(rounded(d_.dtype, y[i]));
    }
    store(out[0], y);
  }

  // d_z = d_y gelu'(z);  d_x = d_z W;  d_W = d_z^T x;  d_b = column sums of d_z
  void backward(Inputs in, Inputs, Inputs d_out, Inputs d_in, Accumulate accumulate) override {
    Workspace work(engine_);
    float* d_z = work.load(d_out[0]);
    if (d_.activation == Activation::gelu_tanh) {
      const float* z = work.load(z_.tensor());
      for (int64_t i = 0; i < d_.rows * d_.out; ++i) d_z[i] = rounded(d_.dtype, d_z[i] * gelu_derivative(z[i]));
    }

    float* d_w = work.zeros(d_.out * d_.in);
    add_dyt_x(d_w, d_z, work.load(in[0]), d_.rows, d_.in, d_.out);
    store_gradient(bound()[0], d_w, d_.out * d_.in, accumulate);

    if (d_.bias) {
      float* d_b = work.zeros(d_.out);
      for (int64_t r = 0; r < d_.rows; ++r) add_scaled(d_b, 1, d_z + r * d_.out, d_.out);
      store_gradient(bound()[1], d_b, d_.out, accumulate);
    }

    if (!d_in[0]) return;
    float* d_x = work.zeros(d_.rows * d_.in);
    add_dy_w(d_x, d_z, work.weights(bound()[0], d_.out * d_.in), d_.rows, d_.in, d_.out);
    store(d_in[0], d_x);
  }

 protected:
  Engine& engine_;
  LinearDesc d_;
  Saved z_;  // before the activation
};

class ActivatedLinear final : public Linear, public Recomputable {
 public:
  using Linear::Linear;
  void recompute(Inputs out) override {
    Workspace work(engine_);
    float* y = work.load(z_.tensor());
    for (int64_t i = 0; i < d_.rows * d_.out; ++i) y[i] = gelu(y[i]);
    store(out[0], y);
  }
};

}  // namespace

std::unique_ptr<Op> make_linear(Engine& engine, const LinearDesc& desc) {
  if (desc.activation == Activation::none) return std::make_unique<Linear>(engine, desc);
  return std::make_unique<ActivatedLinear>(engine, desc);
}

}  // namespace erg::ref
