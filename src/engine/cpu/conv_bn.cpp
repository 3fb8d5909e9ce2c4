// Weights are trained in fp32 in the layout of their gradient; the forms that the other two passes read are made of
// them once after every optimizer step.
#include "engine/cpu/conv_bn.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/cpu/kernels/add.hpp"
#include "engine/cpu/layout.hpp"
#include "engine/cpu/ops.hpp"

namespace erg {
namespace {

using onednn::Desc;
using onednn::Tag;

int64_t align(int64_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

WeightForm::WeightForm(CpuEngine& engine, const Desc& master, const Desc& wanted) {
  if (wanted == master) return;
  copy_ = engine.allocate(int64_t(wanted.get_size()), "convolution weights for one pass");
  reorder_ = onednn::reorder(master, wanted);
  engine.reserve_scratch(reorder_.scratch_bytes());
}

void WeightForm::refresh(const CpuEngine& engine, const float* master) {
  if (copy_) reorder_({master, copy_->data()}, engine.scratch());
}

ConvBn::ConvBn(CpuEngine& engine, const ConvBnDesc& d, InputGradient kind)
    : engine_(engine),
      d_(d),
      shape_(planes_of(d.dtype, d.batch, d.out_channels, d.out_height() * d.out_width())),
      parts_(batch_norm_parts(shape_, engine.threads())),
      forward_(engine, d),
      weight_gradient_(engine, d),
      weight_master_(weight_gradient_.weights()),
      weight_forward_(engine, weight_master_, forward_.weights()) {
  if (d.input_gradient) {
    input_gradient_ = ConvolutionInputGradient(engine, d, kind);
    weight_backward_ = WeightForm(engine, weight_master_, input_gradient_.weights());
  }
  z_ = engine.allocate(shape_.bytes(), "convolution output");
  statistics_ = engine.allocate(statistic_count * channels() * int64_t(sizeof(float)), "batch norm statistics");
  std::fill_n(statistic(running_var), d.out_channels, 1.0f);
  reserve_scratch();
}

std::vector<ParameterSpec> ConvBn::parameters() const {
  const int64_t C = d_.out_channels;
  return {{"weight", {C, d_.in_channels, d_.kernel, d_.kernel}, weight_count(), true, false},
          {"gamma", {C}, channels(), false, false},
          {"beta", {C}, channels(), false, false}};
}

std::vector<StateView> ConvBn::state() {
  return {{"running_mean", statistic(running_mean), d_.out_channels}, {"running_var", statistic(running_var), d_.out_channels}};
}

void ConvBn::weights_changed() {
  weight_forward_.refresh(engine_, bound()[0].master);
  weight_backward_.refresh(engine_, bound()[0].master);
}

void ConvBn::forward(Inputs in, Inputs out, Mode mode) {
  {
    const Span span(engine_.trace(), convolution_work(d_, Pass::forward));
    forward_(in[0].data, weight_forward_.of(bound()[0].master), z(), engine_.scratch());
  }
  const Span span(engine_.trace(), batch_norm_forward_work(d_));
  BatchNormForward norm;
  norm.shape = shape_;
  norm.z = z();
  norm.residual = d_.residual ? in[1].data : nullptr;
  norm.y = out[0].data;
  norm.relu = d_.relu;
  norm.gamma = bound()[1].master;
  norm.beta = bound()[2].master;
  norm.running_mean = statistic(running_mean);
  norm.running_variance = statistic(running_var);
  norm.momentum = d_.momentum;
  norm.epsilon = d_.epsilon;
  norm.parts = parts_;
  norm.partials = static_cast<double*>(engine_.scratch());
  if (mode == Mode::train) {
    norm.mean = statistic(mean);
    norm.rstd = statistic(rstd);
    batch_norm_kernels().train(norm);
  } else {
    norm.mean = statistic(running_mean);
    norm.rstd = statistic(d_gamma);  // free between steps
    for (int64_t c = 0; c < channels(); ++c) norm.rstd[c] = 1 / std::sqrt(norm.running_variance[c] + d_.epsilon);
    batch_norm_kernels().normalise(norm);
  }
}

// dz takes the place of dy, or that of z where dy's is the residual's gradient.
void ConvBn::backward(Inputs in, Inputs out, Inputs d_out, Inputs d_in, Accumulate accumulate) {
  NormGradient norm;
  norm.y = out[0].data;
  norm.dy = d_out[0].data;
  norm.d_residual = d_.residual ? d_in[1].data : nullptr;
  norm.dz = norm.d_residual ? z() : d_out[0].data;
  norm_gradient(norm, accumulate);
  if (d_in[0]) input_gradient(norm.dz, d_in[0].data);
  weight_gradient(in[0].data, norm.dz, accumulate);
}

void ConvBn::norm_gradient(const NormGradient& g, Accumulate accumulate) {
  const Span span(engine_.trace(), batch_norm_backward_work(d_));
  BatchNormBackward norm;
  norm.shape = shape_;
  norm.z = z();
  norm.y = g.y;
  norm.dy = g.dy;
  norm.dz = g.dz;
  norm.d_residual = g.d_residual;
  norm.y_again = g.y_into_z ? z() : nullptr;
  norm.relu = d_.relu;
  norm.residual = d_.residual;
  norm.gamma = bound()[1].master;
  norm.beta = bound()[2].master;
  norm.mean = statistic(mean);
  norm.rstd = statistic(rstd);
  norm.d_gamma = statistic(d_gamma);
  norm.d_beta = statistic(d_beta);
  norm.parts = parts_;
  norm.partials = static_cast<double*>(engine_.scratch());
  batch_norm_kernels().backward(norm);
  store_gradient(1, norm.d_gamma, channels(), accumulate);
  store_gradient(2, norm.d_beta, channels(), accumulate);
}

void ConvBn::input_gradient(const void* dz, void* d_x) {
  if (!input_gradient_) return;
  const Span span(engine_.trace(), convolution_work(d_, Pass::input_gradient));
  input_gradient_(dz, weight_backward_.of(bound()[0].master), d_x, engine_.scratch());
}

// The gradient overwrites, and is summed in fp32: what else is wanted goes through scratch.
void ConvBn::weight_gradient(const void* x, const void* dz, Accumulate accumulate) {
  const Span span(engine_.trace(), convolution_work(d_, Pass::weight_gradient));
  const ParameterView& weight = bound()[0];
  char* const scratch = static_cast<char*>(engine_.scratch());
  if (weight.gradient_dtype == DType::f32 && accumulate == Accumulate::no)
    return weight_gradient_(x, dz, static_cast<float*>(weight.gradient), scratch);
  float* const dw = reinterpret_cast<float*>(scratch);
  weight_gradient_(x, dz, dw, scratch + dw_bytes());
  store_gradient(0, dw, weight_count(), accumulate);
}

void ConvBn::import_parameter(size_t index, const float* logical) {
  if (index != 0) return import_plain(bound()[index], logical, d_.out_channels);
  onednn::convert(logical_weight(), logical, weight_master_, bound()[0].master);
}

void ConvBn::export_parameter(size_t index, float* logical) const {
  if (index != 0) return export_plain(bound()[index], logical, d_.out_channels);
  onednn::convert(weight_master_, bound()[0].master, logical_weight(), logical);
}

void ConvBn::export_gradient(size_t index, float* logical) const {
  if (index != 0) return export_plain_gradient(bound()[index], logical, d_.out_channels);
  const int64_t count = weight_count();
  std::vector<float> gradient(static_cast<size_t>(count));
  export_plain_gradient(bound()[0], gradient.data(), count);
  onednn::convert(weight_master_, gradient.data(), logical_weight(), logical);
}

int64_t ConvBn::dw_bytes() const { return align(int64_t(weight_master_.get_size())); }

Desc ConvBn::logical_weight() const {
  return {{d_.out_channels, d_.in_channels, d_.kernel, d_.kernel}, dnnl::memory::data_type::f32, Tag::oihw};
}

// One pass at a time: batch norm's partial sums, oneDNN's, or [dw][oneDNN's].
void ConvBn::reserve_scratch() {
  engine_.reserve_scratch(std::max({batch_norm_partials(shape_, parts_) * int64_t(sizeof(double)), forward_.scratch_bytes(),
                                    input_gradient_.scratch_bytes(), dw_bytes() + weight_gradient_.scratch_bytes()}));
}

void ConvBn::store_gradient(size_t parameter, const float* gradient, int64_t count, Accumulate accumulate) const {
  const ParameterView& to = bound()[parameter];
  add_kernels().add_gradient(to.gradient_dtype, to.gradient, gradient, count, accumulate == Accumulate::yes);
}

std::unique_ptr<Op> make_cpu_conv_bn(CpuEngine& engine, const ConvBnDesc& desc) { return std::make_unique<ConvBn>(engine, desc); }

}  // namespace erg
