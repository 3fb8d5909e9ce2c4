// Residual add + layer norm: own kernels; mean and 1 / standard deviation of each row are kept for backward.
#include "engine/cpu/kernels/residual_norm.hpp"

#include "engine/cpu/kernels/add.hpp"
#include "engine/cpu/ops.hpp"

namespace erg {
namespace {

class ResidualNormOp final : public Op {
 public:
  ResidualNormOp(CpuEngine& engine, const ResidualNormDesc& d)
      : engine_(engine), d_(d), statistics_(engine.allocate(2 * d.rows * int64_t(sizeof(float)), "layer norm statistics")) {
    engine.reserve_scratch((2 * d.hidden + residual_norm_partials(d.hidden)) * int64_t(sizeof(float)));
  }

  std::vector<ParameterSpec> parameters() const override {
    return {{"gamma", {d_.hidden}, d_.hidden, false, false}, {"beta", {d_.hidden}, d_.hidden, false, false}};
  }

  void forward(Inputs in, Inputs out, Mode mode) override {
    ResidualNorm norm = common();
    norm.x = in[0].data;
    norm.delta = d_.residual ? in[1].data : nullptr;
    norm.r = d_.residual ? out[0].data : nullptr;
    norm.y = out[d_.residual ? 1 : 0].data;
    if (mode == Mode::evaluate) norm.mean = norm.rstd = nullptr;
    residual_norm_kernels().forward(norm);
  }

  void backward(Inputs in, Inputs out, Inputs d_out, Inputs d_in, Accumulate accumulate) override {
    float* const scratch = static_cast<float*>(engine_.scratch());
    ResidualNorm norm = common();
    norm.r = d_.residual ? out[0].data : in[0].data;
    norm.d_y = d_out.back().data;
    norm.d_r = d_out.size() == 2 ? d_out[0].data : nullptr;
    norm.d_x = d_in[0].data;
    norm.d_gamma = scratch;
    norm.d_beta = scratch + d_.hidden;
    norm.partials = scratch + 2 * d_.hidden;
    residual_norm_kernels().backward(norm);
    store_gradient(bound()[0], norm.d_gamma, accumulate);
    store_gradient(bound()[1], norm.d_beta, accumulate);
  }

 private:
  ResidualNorm common() const {
    ResidualNorm norm;
    norm.dtype = d_.dtype;
    norm.rows = d_.rows;
    norm.hidden = d_.hidden;
    norm.epsilon = d_.epsilon;
    norm.gamma = bound()[0].master;
    norm.beta = bound()[1].master;
    norm.mean = static_cast<float*>(statistics_->data());
    norm.rstd = norm.mean + d_.rows;
    return norm;
  }
  void store_gradient(const ParameterView& to, const float* gradient, Accumulate accumulate) const {
    add_kernels().add_gradient(to.gradient_dtype, to.gradient, gradient, d_.hidden, accumulate == Accumulate::yes);
  }

  CpuEngine& engine_;
  ResidualNormDesc d_;
  std::unique_ptr<Buffer> statistics_;  // mean, rstd [rows]
};

}  // namespace

std::unique_ptr<Op> make_cpu_residual_norm(CpuEngine& engine, const ResidualNormDesc& desc) {
  return std::make_unique<ResidualNormOp>(engine, desc);
}

}  // namespace erg
