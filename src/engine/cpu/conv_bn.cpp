// Convolution (oneDNN) + batch norm + residual + ReLU (own kernels): z = conv(x, w) is kept, y is written in the sweep that normalises z.
// Weights are trained in fp32 in the layout in which oneDNN gives their gradient; the forms that the other two passes read are made of
// them once after every optimizer step.
// backward: d_x and d_residual may each be the memory of d_y.
#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/cpu/kernels/add.hpp"
#include "engine/cpu/kernels/batch_norm.hpp"
#include "engine/cpu/layout.hpp"
#include "engine/cpu/onednn.hpp"
#include "engine/cpu/ops.hpp"

namespace erg {
namespace {

using onednn::Desc;
using onednn::Dims;
using onednn::Tag;

int64_t align(int64_t bytes) { return (bytes + 63) / 64 * 64; }

// The three passes of one convolution, as oneDNN wants them with our image layout.
struct Passes {
  dnnl::convolution_forward::primitive_desc forward;
  dnnl::convolution_backward_data::primitive_desc backward_data;  // empty without input gradient
  dnnl::convolution_backward_weights::primitive_desc backward_weights;

  explicit Passes(const ConvBnDesc& d) {
    const auto algorithm = dnnl::algorithm::convolution_direct;
    const Desc x = onednn::image(planes_of(d.dtype, d.batch, d.in_channels, d.in_height * d.in_width), d.in_height, d.in_width);
    const Desc z =
        onednn::image(planes_of(d.dtype, d.batch, d.out_channels, d.out_height() * d.out_width()), d.out_height(), d.out_width());
    const Dims shape{d.out_channels, d.in_channels, d.kernel, d.kernel}, stride{d.stride, d.stride}, padding{d.padding, d.padding};
    const Desc w(shape, onednn::type_of(d.dtype), Tag::any), dw(shape, dnnl::memory::data_type::f32, Tag::any);
    const dnnl::engine& engine = onednn::engine();
    const dnnl::primitive_attr attr = onednn::user_scratch();
    forward = {engine, dnnl::prop_kind::forward_training, algorithm, x, w, z, stride, padding, padding, attr};
    if (d.input_gradient) backward_data = {engine, algorithm, x, w, z, stride, padding, padding, forward, attr};
    backward_weights = {engine, algorithm, x, dw, z, stride, padding, padding, forward, attr};
  }
};

// The weights in the form one pass reads: the master itself where type and layout agree, else a copy.
class WeightForm {
 public:
  WeightForm() = default;
  WeightForm(CpuEngine& engine, const Desc& master, const Desc& wanted) {
    if (wanted == master) return;
    copy_ = engine.allocate(int64_t(wanted.get_size()), "convolution weights for one pass");
    reorder_ = onednn::reorder(master, wanted);
    engine.reserve_scratch(reorder_.scratch_bytes());
  }
  void refresh(const CpuEngine& engine, const float* master) {
    if (copy_) reorder_({master, copy_->data()}, engine.scratch());
  }
  const void* of(const float* master) const { return copy_ ? copy_->data() : master; }

 private:
  std::unique_ptr<Buffer> copy_;
  onednn::Call reorder_;
};

class ConvBn final : public Op {
 public:
  ConvBn(CpuEngine& engine, const ConvBnDesc& d, const Passes& passes)
      : engine_(engine),
        d_(d),
        shape_(planes_of(d.dtype, d.batch, d.out_channels, d.out_height() * d.out_width())),
        parts_(batch_norm_parts(shape_, engine.threads())),
        weight_master_(passes.backward_weights.diff_weights_desc()),
        weight_forward_(engine, weight_master_, passes.forward.weights_desc()),
        forward_(passes.forward, {{DNNL_ARG_SRC, passes.forward.src_desc()},
                                  {DNNL_ARG_WEIGHTS, passes.forward.weights_desc()},
                                  {DNNL_ARG_DST, passes.forward.dst_desc()}}),
        backward_weights_(passes.backward_weights, {{DNNL_ARG_SRC, passes.backward_weights.src_desc()},
                                                    {DNNL_ARG_DIFF_DST, passes.backward_weights.diff_dst_desc()},
                                                    {DNNL_ARG_DIFF_WEIGHTS, weight_master_}}) {
    if (d.input_gradient) {
      const auto& pd = passes.backward_data;
      weight_backward_ = WeightForm(engine, weight_master_, pd.weights_desc());
      backward_data_ = onednn::Call(
          pd, {{DNNL_ARG_DIFF_DST, pd.diff_dst_desc()}, {DNNL_ARG_WEIGHTS, pd.weights_desc()}, {DNNL_ARG_DIFF_SRC, pd.diff_src_desc()}});
    }
    z_ = engine.allocate(shape_.bytes(), "convolution output");
    statistics_ = engine.allocate(statistic_count * channels() * int64_t(sizeof(float)), "batch norm statistics");
    std::fill_n(statistic(running_var), d.out_channels, 1.0f);
    reserve_scratch();
  }

  std::vector<ParameterSpec> parameters() const override {
    const int64_t C = d_.out_channels;
    return {{"weight", {C, d_.in_channels, d_.kernel, d_.kernel}, weight_count(), true, false},
            {"gamma", {C}, channels(), false, false},
            {"beta", {C}, channels(), false, false}};
  }
  std::vector<StateView> state() override {
    return {{"running_mean", statistic(running_mean), d_.out_channels}, {"running_var", statistic(running_var), d_.out_channels}};
  }

  void weights_changed() override {
    weight_forward_.refresh(engine_, bound()[0].master);
    weight_backward_.refresh(engine_, bound()[0].master);
  }

  void forward(Inputs in, Inputs out, Mode mode) override {
    forward_({in[0].data, weight_forward_.of(bound()[0].master), z_->data()}, engine_.scratch());
    BatchNormForward norm;
    norm.shape = shape_;
    norm.z = z_->data();
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

  void backward(Inputs in, Inputs out, Inputs d_out, Inputs d_in, Accumulate accumulate) override {
    char* const dz = static_cast<char*>(engine_.scratch());
    float* const dw = reinterpret_cast<float*>(dz + dz_bytes());
    char* const rest = dz + dz_bytes() + dw_bytes();

    BatchNormBackward norm;
    norm.shape = shape_;
    norm.z = z_->data();
    norm.y = out[0].data;
    norm.dy = d_out[0].data;
    norm.dz = dz;
    norm.d_residual = d_.residual && d_in[1] ? d_in[1].data : nullptr;
    norm.relu = d_.relu;
    norm.residual = d_.residual;
    norm.gamma = bound()[1].master;
    norm.beta = bound()[2].master;
    norm.mean = statistic(mean);
    norm.rstd = statistic(rstd);
    norm.d_gamma = statistic(d_gamma);
    norm.d_beta = statistic(d_beta);
    norm.parts = parts_;
    norm.partials = reinterpret_cast<double*>(rest);
    batch_norm_kernels().backward(norm);
    store_gradient(bound()[1], norm.d_gamma, channels(), accumulate);
    store_gradient(bound()[2], norm.d_beta, channels(), accumulate);

    if (backward_data_ && d_in[0]) backward_data_({dz, weight_backward_.of(bound()[0].master), d_in[0].data}, rest);
    const ParameterView& weight = bound()[0];
    if (weight.gradient_dtype == DType::f32 && accumulate == Accumulate::no) {
      backward_weights_({in[0].data, dz, weight.gradient}, rest);
    } else {  // oneDNN overwrites, and sums in fp32
      backward_weights_({in[0].data, dz, dw}, rest);
      store_gradient(weight, dw, weight_count(), accumulate);
    }
  }

  void import_parameter(size_t index, const float* logical) override {
    if (index != 0) return import_plain(bound()[index], logical, d_.out_channels);
    onednn::convert(logical_weight(), logical, weight_master_, bound()[0].master);
  }
  void export_parameter(size_t index, float* logical) const override {
    if (index != 0) return export_plain(bound()[index], logical, d_.out_channels);
    onednn::convert(weight_master_, bound()[0].master, logical_weight(), logical);
  }
  void export_gradient(size_t index, float* logical) const override {
    if (index != 0) return export_plain_gradient(bound()[index], logical, d_.out_channels);
    const int64_t count = weight_count();
    std::vector<float> gradient(static_cast<size_t>(count));
    export_plain_gradient(bound()[0], gradient.data(), count);
    onednn::convert(weight_master_, gradient.data(), logical_weight(), logical);
  }

 private:
  enum Statistic { mean, rstd, running_mean, running_var, d_gamma, d_beta, statistic_count };

  int64_t channels() const { return shape_.blocks() * shape_.block; }  // padded to whole blocks
  int64_t weight_count() const { return int64_t(weight_master_.get_size() / sizeof(float)); }
  int64_t dz_bytes() const { return align(shape_.bytes()); }
  int64_t dw_bytes() const { return align(int64_t(weight_master_.get_size())); }
  float* statistic(Statistic s) const { return static_cast<float*>(statistics_->data()) + s * channels(); }
  Desc logical_weight() const { return {{d_.out_channels, d_.in_channels, d_.kernel, d_.kernel}, dnnl::memory::data_type::f32, Tag::oihw}; }

  // forward: oneDNN's, then the partial sums; backward: [dz][dw][partial sums, then oneDNN's].
  void reserve_scratch() {
    const int64_t partials = batch_norm_partials(shape_, parts_) * int64_t(sizeof(double));
    engine_.reserve_scratch(std::max(partials, forward_.scratch_bytes()));
    const int64_t rest = std::max({partials, backward_data_.scratch_bytes(), backward_weights_.scratch_bytes()});
    engine_.reserve_scratch(dz_bytes() + dw_bytes() + rest);
  }

  static void store_gradient(const ParameterView& to, const float* gradient, int64_t count, Accumulate accumulate) {
    add_kernels().add_gradient(to.gradient_dtype, to.gradient, gradient, count, accumulate == Accumulate::yes);
  }

  CpuEngine& engine_;
  ConvBnDesc d_;
  Planes shape_;   // of z, y and their gradients
  int64_t parts_;  // of the batch, when batch norm sums
  Desc weight_master_;
  WeightForm weight_forward_, weight_backward_;
  onednn::Call forward_, backward_data_, backward_weights_;
  std::unique_ptr<Buffer> z_, statistics_;
};

}  // namespace

std::unique_ptr<Op> make_cpu_conv_bn(CpuEngine& engine, const ConvBnDesc& desc) {
  return std::make_unique<ConvBn>(engine, desc, Passes(desc));
}

}  // namespace erg
