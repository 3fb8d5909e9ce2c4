// ResNet's bottleneck with as little memory and traffic as its backward allows:
//   a = reduce(x);  b = spatial(a);  s = project(x) or x;  y = relu(expand(b) + s)
// a, b and s live in scratch that all blocks share. Backward needs a and b once more, for the weights' gradients: batch norm's gradient
// reads z anyway, and leaves them in its place. Every dz lies where its dy or z did. The shortcut's gradient is written where d_x will be,
// and reduce adds its own to it.
#include <utility>

#include "engine/composite.hpp"
#include "engine/cpu/conv_bn.hpp"
#include "engine/cpu/ops.hpp"

namespace erg {
namespace {

class Bottleneck final : public CompositeOp {
 public:
  Bottleneck(CpuEngine& engine, const BottleneckDesc& d)
      : engine_(engine),
        reduce_(engine, d.reduce(), ConvBn::InputGradient::add),
        spatial_(engine, d.spatial()),
        expand_(engine, d.expand()) {
    add_part("reduce", reduce_);
    add_part("spatial", spatial_);
    add_part("expand", expand_);
    if (d.projection) {
      project_ = std::make_unique<ConvBn>(engine, d.project());
      add_part("project", *project_);
    }
    engine.reserve_scratch(space(reduce_) + space(spatial_) + (project_ ? space(expand_) : 0), Engine::Scratch::block);
  }

  void forward(Inputs in, Inputs out, Mode mode) override {
    const Tensor& x = in[0];
    Tensor a, b, s;
    a.data = engine_.scratch(Engine::Scratch::block);
    b.data = a.as<char>() + space(reduce_);
    s.data = b.as<char>() + space(spatial_);
    reduce_.forward(Inputs(&x, 1), Inputs(&a, 1), mode);
    spatial_.forward(Inputs(&a, 1), Inputs(&b, 1), mode);
    if (project_) project_->forward(Inputs(&x, 1), Inputs(&s, 1), mode);
    const Tensor summands[] = {b, project_ ? s : x};
    expand_.forward(Inputs(summands), out, mode);
  }

  // d_x may lie where d_y does.
  void backward(Inputs in, Inputs out, Inputs d_out, Inputs d_in, Accumulate accumulate) override {
    const void* const x = in[0].data;
    void *const d_y = d_out[0].data, *const d_x = d_in[0].data;
    void* const d_a = engine_.scratch(Engine::Scratch::block);
    void* const d_b = static_cast<char*>(d_a) + space(reduce_);

    expand_.norm_gradient({.y = out[0].data, .dy = d_y, .dz = expand_.z(), .d_residual = project_ ? d_y : d_x}, accumulate);
    expand_.input_gradient(expand_.z(), d_b);
    spatial_.norm_gradient({.dy = d_b, .dz = d_b, .y_into_z = true}, accumulate);
    expand_.weight_gradient(spatial_.z(), expand_.z(), accumulate);
    spatial_.input_gradient(d_b, d_a);
    reduce_.norm_gradient({.dy = d_a, .dz = d_a, .y_into_z = true}, accumulate);
    spatial_.weight_gradient(reduce_.z(), d_b, accumulate);
    if (project_) {
      project_->norm_gradient({.dy = d_y, .dz = d_y}, accumulate);
      project_->weight_gradient(x, d_y, accumulate);
      if (d_x) project_->input_gradient(d_y, d_x);
    }
    if (d_x) reduce_.input_gradient(d_a, d_x);
    reduce_.weight_gradient(x, d_a, accumulate);
  }

 private:
  static int64_t space(const ConvBn& of) { return (of.output_bytes() + 63) / 64 * 64; }

  CpuEngine& engine_;
  ConvBn reduce_, spatial_, expand_;
  std::unique_ptr<ConvBn> project_;
};

}  // namespace

std::unique_ptr<Op> make_cpu_bottleneck(CpuEngine& engine, const BottleneckDesc& desc) {
  return std::make_unique<Bottleneck>(engine, desc);
}

}  // namespace erg
