// Convolution + batch norm + residual + ReLU (own kernels) as an op, and its passes one by one, from which the bottleneck is
// made. z = conv(x, w) is kept; y is written in the sweep that normalises z.
#pragma once
#include "engine/cpu/convolution.hpp"
#include "engine/cpu/kernels/batch_norm.hpp"

namespace erg {

// The weights in the form one pass reads: the master itself where type and layout agree, else a copy, made anew after every optimizer step.
class WeightForm {
 public:
  WeightForm() = default;
  WeightForm(CpuEngine& engine, const onednn::Desc& master, const onednn::Desc& wanted);
  void refresh(const CpuEngine& engine, const float* master);
  const void* of(const float* master) const { return copy_ ? copy_->data() : master; }

 private:
  std::unique_ptr<Buffer> copy_;
  onednn::Call reorder_;
};

class ConvBn final : public Op {
 public:
  using InputGradient = ConvolutionInputGradient::Kind;  // what input_gradient() does with its target
  ConvBn(CpuEngine& engine, const ConvBnDesc& d, InputGradient kind = InputGradient::write);

  std::vector<ParameterSpec> parameters() const override;
  std::vector<StateView> state() override;
  void weights_changed() override;
  void forward(Inputs in, Inputs out, Mode mode) override;
  void backward(Inputs in, Inputs out, Inputs d_out, Inputs d_in, Accumulate accumulate) override;
  void import_parameter(size_t index, const float* logical) override;
  void export_parameter(size_t index, float* logical) const override;
  void export_gradient(size_t index, float* logical) const override;

  // Backward, pass by pass.
  struct NormGradient {
    const void* y = nullptr;  // read only where there is a residual
    const void* dy = nullptr;
    void* dz = nullptr;          // may be dy, or z()
    void* d_residual = nullptr;  // or null; may be dy
    bool y_into_z = false;       // z() holds y afterwards; not with a residual
  };
  void norm_gradient(const NormGradient&, Accumulate accumulate);
  void input_gradient(const void* dz, void* d_x);
  void weight_gradient(const void* x, const void* dz, Accumulate accumulate);
  void* z() const { return z_->data(); }
  int64_t output_bytes() const { return shape_.bytes(); }

 private:
  enum Statistic { mean, rstd, running_mean, running_var, d_gamma, d_beta, statistic_count };

  void reserve_scratch();
  void store_gradient(size_t parameter, const float* gradient, int64_t count, Accumulate accumulate) const;
  int64_t channels() const { return shape_.blocks() * shape_.block; }  // padded to whole blocks
  int64_t weight_count() const { return int64_t(weight_master_.get_size() / sizeof(float)); }
  int64_t dw_bytes() const;
  float* statistic(Statistic s) const { return static_cast<float*>(statistics_->data()) + s * channels(); }
  onednn::Desc logical_weight() const;

  CpuEngine& engine_;
  ConvBnDesc d_;
  Planes shape_;   // of z, y and their gradients
  int64_t parts_;  // of the batch, when batch norm sums
  ConvolutionForward forward_;
  ConvolutionInputGradient input_gradient_;
  ConvolutionWeightGradient weight_gradient_;
  onednn::Desc weight_master_;
  WeightForm weight_forward_, weight_backward_;
  std::unique_ptr<Buffer> z_, statistics_;
};

}  // namespace erg
