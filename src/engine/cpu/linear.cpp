// Linear layer: z = x W^T + b, y = z or gelu(z). The products are oneDNN's; one own pass over d_y before those of backward makes
// d_z = d_y gelu'(z), its transpose and the gradient of the bias.
#include "engine/cpu/kernels/linear.hpp"

#include <optional>

#include "engine/cpu/gemm.hpp"
#include "engine/cpu/kernels/add.hpp"
#include "engine/cpu/ops.hpp"
#include "engine/recomputable.hpp"

namespace erg {
namespace {

class Linear : public Op {
 public:
  Linear(CpuEngine& engine, const LinearDesc& d)
      : engine_(engine),
        d_(d),
        forward_({.m = d.rows, .n = d.out, .k = d.in, .operands = d.dtype, .result = d.dtype, .b_transposed = true, .bias = d.bias}),
        backward_data_({.m = d.rows, .n = d.in, .k = d.out, .operands = d.dtype, .result = d.dtype}) {
    if (activated()) z_ = engine.allocate(output_bytes(), "linear layer before its activation");
  }

  std::vector<ParameterSpec> parameters() const override {
    std::vector<ParameterSpec> p{{"weight", {d_.out, d_.in}, d_.out * d_.in, true, true}};
    if (d_.bias) p.push_back({"bias", {d_.out}, d_.out, false, false});
    return p;
  }

  void bind(std::span<const ParameterView> views) override {
    Op::bind(views);
    backward_weights_ = WeightGradient(d_.rows, d_.in, d_.out, d_.dtype, views[0].gradient_dtype);
    ScratchPlan plan;
    dz_ = plan.add(activated() ? output_bytes() : 0);
    dz_transposed_ = plan.add(output_bytes());
    column_sums_ = plan.add(linear_parts * d_.out * int64_t(sizeof(float)));
    gemm_ = plan.add(std::max({forward_.scratch_bytes(), backward_data_.scratch_bytes(), backward_weights_.scratch_bytes()}));
    engine_.reserve_scratch(plan.bytes());
  }

  void forward(Inputs in, Inputs out, Mode mode) override {
    void* const z = activated() && mode == Mode::train ? z_->data() : out[0].data;
    {
      const Span span(engine_.trace(), product_work(d_, Pass::forward));
      forward_(in[0].data, bound()[0].compute, z, scratch(gemm_), d_.bias ? bound()[1].master : nullptr);
    }
    if (activated()) activate(z, out[0].data);
  }

  void backward(Inputs in, Inputs, Inputs d_out, Inputs d_in, Accumulate accumulate) override {
    LinearGradient g;
    g.dtype = d_.dtype;
    g.rows = d_.rows;
    g.columns = d_.out;
    g.dy = d_out[0].data;
    g.z = activated() ? z_->data() : nullptr;
    g.dz = scratch(dz_);
    g.dz_transposed = scratch(dz_transposed_);
    g.column_sums = static_cast<float*>(scratch(column_sums_));
    std::optional<Span> span(std::in_place, engine_.trace(), activation_backward_work(d_));
    linear_kernels().gradient(g);
    if (d_.bias) {
      const ParameterView& bias = bound()[1];
      add_kernels().add_gradient(bias.gradient_dtype, bias.gradient, g.column_sums, d_.out, accumulate == Accumulate::yes);
    }
    span.emplace(engine_.trace(), product_work(d_, Pass::weight_gradient));
    backward_weights_(g.dz_transposed, in[0].data, bound()[0], accumulate, scratch(gemm_));
    if (!d_in[0]) return;
    span.emplace(engine_.trace(), product_work(d_, Pass::input_gradient));
    backward_data_(activated() ? g.dz : g.dy, bound()[0].compute, d_in[0].data, scratch(gemm_));
  }

 protected:
  void activate(const void* z, void* y) const {
    const Span span(engine_.trace(), activation_forward_work(d_));
    linear_kernels().gelu(d_.dtype, z, y, d_.rows * d_.out);
  }
  const void* before_activation() const { return z_->data(); }

 private:
  bool activated() const { return d_.activation == Activation::gelu_tanh; }
  int64_t output_bytes() const { return d_.rows * d_.out * bytes_of(d_.dtype); }
  void* scratch(int64_t offset) const { return static_cast<char*>(engine_.scratch()) + offset; }

  CpuEngine& engine_;
  LinearDesc d_;
  Gemm forward_, backward_data_;
  WeightGradient backward_weights_;
  std::unique_ptr<Buffer> z_;
  int64_t dz_ = 0, dz_transposed_ = 0, column_sums_ = 0, gemm_ = 0;  // in scratch
};

class ActivatedLinear final : public Linear, public Recomputable {
 public:
  using Linear::Linear;
  void recompute(Inputs out) override { activate(before_activation(), out[0].data); }
};

}  // namespace

std::unique_ptr<Op> make_cpu_linear(CpuEngine& engine, const LinearDesc& desc) {
  if (desc.activation == Activation::none) return std::make_unique<Linear>(engine, desc);
  return std::make_unique<ActivatedLinear>(engine, desc);
}

}  // namespace erg
