// Convolution, batch normalisation (Ioffe & Szegedy 2015, algorithm 1), residual add and ReLU:
//   z = w * x;  xhat = (z - mean) / sqrt(var + eps);  y = relu(gamma xhat + beta + residual)
#include <algorithm>
#include <cmath>

#include "engine/ref/ops.hpp"
#include "engine/ref/values.hpp"

namespace erg::ref {
namespace {

// Calls f(weight, z, x, count) for every row of output pixels that a weight touches:
// z[z + j] belongs to x[x + j * stride] for j < count. Rows cut by the padding are shorter.
template <class F>
void for_each_row(const ConvBnDesc& d, F f) {
  const int64_t H = d.in_height, W = d.in_width, OH = d.out_height(), OW = d.out_width(), K = d.kernel, S = d.stride, P = d.padding;
  for (int64_t n = 0; n < d.batch; ++n)
    for (int64_t o = 0; o < d.out_channels; ++o)
      for (int64_t i = 0; i < d.in_channels; ++i)
        for (int64_t kh = 0; kh < K; ++kh)
          for (int64_t kw = 0; kw < K; ++kw) {
            const int64_t first = std::max<int64_t>(0, (P - kw + S - 1) / S);                      // smallest ow with column >= 0
            const int64_t last = W - 1 + P - kw < 0 ? 0 : std::min(OW, (W - 1 + P - kw) / S + 1);  // past the largest with column < W
            if (first >= last) continue;
            const int64_t weight = ((o * d.in_channels + i) * K + kh) * K + kw;
            for (int64_t oh = 0; oh < OH; ++oh) {
              const int64_t ih = oh * S + kh - P;
              if (ih < 0 || ih >= H) continue;
              f(weight, ((n * d.out_channels + o) * OH + oh) * OW + first, ((n * d.in_channels + i) * H + ih) * W + first * S + kw - P,
                last - first);
            }
          }
}

class ConvBn final : public Op {
 public:
  ConvBn(Engine& engine, const ConvBnDesc& d)
      : engine_(engine),
        d_(d),
        pixels_(d.out_height() * d.out_width()),
        x_size_(d.batch * d.in_channels * d.in_height * d.in_width),
        z_size_(d.batch * d.out_channels * pixels_),
        w_size_(d.out_channels * d.in_channels * d.kernel * d.kernel),
        z_(engine, d.dtype, {d.batch, d.out_channels, d.out_height(), d.out_width()}),
        mean_(engine, DType::f32, {d.out_channels}),
        inv_std_(engine, DType::f32, {d.out_channels}),
        running_mean_(engine, DType::f32, {d.out_channels}),
        running_var_(engine, DType::f32, {d.out_channels}) {
    std::fill_n(running_var_.floats(), d.out_channels, 1.0f);
    Workspace::reserve(engine, 2 * x_size_ + 2 * w_size_ + 2 * z_size_ + 2 * d.out_channels);
  }

  std::vector<ParameterSpec> parameters() const override {
    const int64_t C = d_.out_channels;
    return {{"weight", {C, d_.in_channels, d_.kernel, d_.kernel}, w_size_, true, true},
            {"gamma", {C}, C, false, false},
            {"beta", {C}, C, false, false}};
  }
  std::vector<StateView> state() override {
    return {{"running_mean", running_mean_.floats(), d_.out_channels}, {"running_var", running_var_.floats(), d_.out_channels}};
  }

  void forward(Inputs in, Inputs out, Mode mode) override {
    Workspace work(engine_);
    const float *x = work.load(in[0]), *w = work.weights(bound()[0], w_size_);
    float* z = work.zeros(z_size_);
    for_each_row(d_, [&, S = d_.stride](int64_t wi, int64_t zi, int64_t xi, int64_t count) {
      for (int64_t j = 0; j < count; ++j) z[zi + j] += w[wi] * x[xi + j * S];
    });
    for (int64_t i = 0; i < z_size_; ++i) z[i] = rounded(d_.dtype, z[i]);

    if (mode == Mode::train) {
      store(z_.tensor(), z);
      batch_statistics(z);
      normalise(in, out[0], z, mean_.floats(), inv_std_.floats(), work);
    } else {
      float* inv_std = work.zeros(d_.out_channels);
      for (int64_t c = 0; c < d_.out_channels; ++c) inv_std[c] = 1 / std::sqrt(running_var_.floats()[c] + d_.epsilon);
      normalise(in, out[0], z, running_mean_.floats(), inv_std, work);
    }
  }

  // With g the gradient of gamma xhat + beta, sums over the channel's m values (Ioffe & Szegedy 2015, section 3):
  //   d_beta = sum g;  d_gamma = sum g xhat;  d_z = gamma / std (g - d_beta / m - xhat d_gamma / m)
  void backward(Inputs in, Inputs out, Inputs d_out, Inputs d_in, Accumulate accumulate) override {
    Workspace work(engine_);
    float* g = work.load(d_out[0]);
    if (d_.relu && d_.residual) {
      Workspace local = work;  // y's place is d_z's below
      const float* y = local.load(out[0]);
      for (int64_t i = 0; i < z_size_; ++i) g[i] = y[i] > 0 ? g[i] : 0;
    }
    if (d_.residual && d_in[1]) store(d_in[1], g);

    float *d_z = work.load(z_.tensor()), *d_gamma = work.zeros(d_.out_channels), *d_beta = work.zeros(d_.out_channels);
    const float *mean = mean_.floats(), *inv_std = inv_std_.floats(), *gamma = bound()[1].master, *beta = bound()[2].master;
    const float m = float(d_.batch * pixels_);
    for (int64_t c = 0; c < d_.out_channels; ++c) {
      if (d_.relu && !d_.residual)  // y follows from z, as in normalise()
        for_channel(c, [&](int64_t i) { g[i] = gamma[c] * (d_z[i] - mean[c]) * inv_std[c] + beta[c] > 0 ? g[i] : 0; });
      double sum_g = 0, sum_g_xhat = 0;
      for_channel(c, [&](int64_t i) {
        sum_g += g[i];
        sum_g_xhat += double(g[i]) * ((d_z[i] - mean[c]) * inv_std[c]);
      });
      d_beta[c] = float(sum_g);
      d_gamma[c] = float(sum_g_xhat);
      for_channel(c, [&](int64_t i) {
        const float xhat = (d_z[i] - mean[c]) * inv_std[c];
        d_z[i] = rounded(d_.dtype, gamma[c] * inv_std[c] * (g[i] - d_beta[c] / m - xhat * d_gamma[c] / m));
      });
    }
    store_gradient(bound()[1], d_gamma, d_.out_channels, accumulate);
    store_gradient(bound()[2], d_beta, d_.out_channels, accumulate);

    convolution_backward(in[0], d_z, d_in[0], accumulate, work);
  }

 private:
  template <class F>
  void for_channel(int64_t c, F f) const {
    for (int64_t n = 0; n < d_.batch; ++n)
      for (int64_t p = 0, i = (n * d_.out_channels + c) * pixels_; p < pixels_; ++p, ++i) f(i);
  }

  // Normalising uses the biased variance, the running one is unbiased: PyTorch's choice.
  void batch_statistics(const float* z) {
    const double m = double(d_.batch * pixels_);
    for (int64_t c = 0; c < d_.out_channels; ++c) {
      double sum = 0, squares = 0;
      for_channel(c, [&](int64_t i) { sum += z[i]; });
      const double mean = sum / m;
      for_channel(c, [&](int64_t i) { squares += (z[i] - mean) * (z[i] - mean); });
      mean_.floats()[c] = float(mean);
      inv_std_.floats()[c] = float(1 / std::sqrt(squares / m + d_.epsilon));
      float &running_mean = running_mean_.floats()[c], &running_var = running_var_.floats()[c];
      running_mean += d_.momentum * (float(mean) - running_mean);
      running_var += d_.momentum * (float(squares / std::max(m - 1, 1.0)) - running_var);
    }
  }

  void normalise(Inputs in, const Tensor& out, float* z, const float* mean, const float* inv_std, Workspace& work) {
    const float *gamma = bound()[1].master, *beta = bound()[2].master, *residual = d_.residual ? work.load(in[1]) : nullptr;
    for (int64_t c = 0; c < d_.out_channels; ++c)
      for_channel(c, [&](int64_t i) {
        float y = gamma[c] * (z[i] - mean[c]) * inv_std[c] + beta[c];
        if (residual) y += residual[i];
        z[i] = d_.relu ? std::max(y, 0.0f) : y;
      });
    store(out, z);
  }

  void convolution_backward(const Tensor& in, const float* d_z, const Tensor& d_in, Accumulate accumulate, Workspace& work) {
    const float* x = work.load(in);
    float* d_w = work.zeros(w_size_);
    for_each_row(d_, [&, S = d_.stride](int64_t wi, int64_t zi, int64_t xi, int64_t count) {
      float sum = 0;
      for (int64_t j = 0; j < count; ++j) sum += d_z[zi + j] * x[xi + j * S];
      d_w[wi] += sum;
    });
    store_gradient(bound()[0], d_w, w_size_, accumulate);
    if (!d_.input_gradient || !d_in) return;

    const float* w = work.weights(bound()[0], w_size_);
    float* d_x = work.zeros(x_size_);
    for_each_row(d_, [&, S = d_.stride](int64_t wi, int64_t zi, int64_t xi, int64_t count) {
      for (int64_t j = 0; j < count; ++j) d_x[xi + j * S] += w[wi] * d_z[zi + j];
    });
    store(d_in, d_x);
  }

  Engine& engine_;
  ConvBnDesc d_;
  int64_t pixels_, x_size_, z_size_, w_size_;
  Saved z_, mean_, inv_std_;  // of the last forward in training
  Saved running_mean_, running_var_;
};

}  // namespace

std::unique_ptr<Op> make_conv_bn(Engine& engine, const ConvBnDesc& desc) { return std::make_unique<ConvBn>(engine, desc); }

}  // namespace erg::ref
