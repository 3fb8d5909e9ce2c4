// Residual add and layer normalisation (Ba, Kiros & Hinton 2016), row by row:
//   r = x + delta;  xhat = (r - mean) / sqrt(var + eps);  y = gamma xhat + beta
#include <cmath>

#include "engine/ref/ops.hpp"
#include "engine/ref/values.hpp"

namespace erg::ref {
namespace {

class ResidualNorm final : public Op {
 public:
  ResidualNorm(Engine& engine, const ResidualNormDesc& d)
      : engine_(engine), d_(d), mean_(engine, DType::f32, {d.rows}), inv_std_(engine, DType::f32, {d.rows}) {
    Workspace::reserve(engine, 3 * d.rows * d.hidden + 2 * d.hidden);
  }

  std::vector<ParameterSpec> parameters() const override {
    return {{"gamma", {d_.hidden}, d_.hidden, false, false}, {"beta", {d_.hidden}, d_.hidden, false, false}};
  }

  void forward(Inputs in, Inputs out, Mode) override {
    Workspace work(engine_);
    float* r = work.load(in[0]);
    if (d_.residual) {
      const float* delta = work.load(in[1]);
      for (int64_t i = 0; i < d_.rows * d_.hidden; ++i) r[i] = rounded(d_.dtype, r[i] + delta[i]);
      store(out[0], r);
    }
    const float *gamma = bound()[0].master, *beta = bound()[1].master;
    for (int64_t row = 0; row < d_.rows; ++row) {
      float* v = r + row * d_.hidden;
      double sum = 0, squares = 0;
      for (int64_t i = 0; i < d_.hidden; ++i) sum += v[i];
      const double mean = sum / double(d_.hidden);
      for (int64_t i = 0; i < d_.hidden; ++i) squares += (v[i] - mean) * (v[i] - mean);
      const float m = mean_.floats()[row] = float(mean);
      const float inv_std = inv_std_.floats()[row] = float(1 / std::sqrt(squares / double(d_.hidden) + d_.epsilon));
      for (int64_t i = 0; i < d_.hidden; ++i) v[i] = gamma[i] * (v[i] - m) * inv_std + beta[i];
    }
    store(out[d_.residual ? 1 : 0], r);
  }

  // With g = gamma d_y, means over the row:  d_r += (g - mean(g) - xhat mean(g xhat)) / std
  void backward(Inputs in, Inputs out, Inputs d_out, Inputs d_in, Accumulate accumulate) override {
    Workspace work(engine_);
    const Tensor *d_r = d_out.size() == 2 ? &d_out[0] : nullptr, *d_y_tensor = &d_out[d_out.size() - 1];
    const float *r = work.load(d_.residual ? out[0] : in[0]), *d_y = work.load(*d_y_tensor), *gamma = bound()[0].master;
    float* d_x = d_r && *d_r ? work.load(*d_r) : work.zeros(d_.rows * d_.hidden);
    float *d_gamma = work.zeros(d_.hidden), *d_beta = work.zeros(d_.hidden);
    for (int64_t row = 0; row < d_.rows; ++row) {
      const float *v = r + row * d_.hidden, *dy = d_y + row * d_.hidden, mean = mean_.floats()[row], inv_std = inv_std_.floats()[row];
      double sum_g = 0, sum_g_xhat = 0;
      for (int64_t i = 0; i < d_.hidden; ++i) {
        const float xhat = (v[i] - mean) * inv_std, g = gamma[i] * dy[i];
        d_gamma[i] += dy[i] * xhat;
        d_beta[i] += dy[i];
        sum_g += g;
        sum_g_xhat += g * xhat;
      }
      const float mean_g = float(sum_g / double(d_.hidden)), mean_g_xhat = float(sum_g_xhat / double(d_.hidden));
      for (int64_t i = 0; i < d_.hidden; ++i) {
        const float xhat = (v[i] - mean) * inv_std;
        d_x[row * d_.hidden + i] += inv_std * (gamma[i] * dy[i] - mean_g - xhat * mean_g_xhat);
      }
    }
    store_gradient(bound()[0], d_gamma, d_.hidden, accumulate);
    store_gradient(bound()[1], d_beta, d_.hidden, accumulate);
    if (d_in[0]) store(d_in[0], d_x);
  }

 private:
  Engine& engine_;
  ResidualNormDesc d_;
  Saved mean_, inv_std_;
};

}  // namespace

std::unique_ptr<Op> make_residual_norm(Engine& engine, const ResidualNormDesc& desc) {
  return std::make_unique<ResidualNorm>(engine, desc);
}

}  // namespace erg::ref
