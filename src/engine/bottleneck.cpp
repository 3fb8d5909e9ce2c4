// ResNet's bottleneck block (He et al. 2015, figure 5 right; stride in the 3x3 as in v1.5) composed from four fused convolutions:
//   a = reduce(x);  b = spatial(a);  s = project(x) or x;  y = relu(expand(b) + s)
// An engine that can fuse across them overrides Engine::bottleneck.
#include <utility>

#include "engine/check.hpp"
#include "engine/composite.hpp"
#include "engine/engine.hpp"

namespace erg {
namespace {

class Bottleneck final : public CompositeOp {
 public:
  Bottleneck(Engine& engine, const BottleneckDesc& d)
      : engine_(engine),
        reduce_(engine.conv_bn(d.reduce())),
        spatial_(engine.conv_bn(d.spatial())),
        expand_(engine.conv_bn(d.expand())),
        project_(d.projection ? engine.conv_bn(d.project()) : nullptr) {
    add_part("reduce", *reduce_);
    add_part("spatial", *spatial_);
    add_part("expand", *expand_);
    if (project_) add_part("project", *project_);

    const Tensor a = shape_of(d.reduce()), b = shape_of(d.spatial()), y = shape_of(d.expand());
    const Tensor x{d.dtype, {d.batch, d.in_channels, d.in_height, d.in_width}, Layout::image, nullptr, 0};
    a_ = keep(a, "bottleneck reduce");
    b_ = keep(b, "bottleneck spatial");
    if (project_) s_ = keep(y, "bottleneck shortcut");
    engine.reserve_scratch(space(a) + space(b) + space(y) + (project_ ? space(x) : 0), Engine::Scratch::block);
  }

  void forward(Inputs in, Inputs out, Mode mode) override {
    const Tensor& x = in[0];
    reduce_->forward({x}, {a_}, mode);
    spatial_->forward({a_}, {b_}, mode);
    if (project_) project_->forward({x}, {s_}, mode);
    expand_->forward({b_, shortcut(x)}, {out[0]}, mode);
  }

  // Gradients between the parts lie in block scratch, which all blocks of the engine share.
  void backward(Inputs in, Inputs out, Inputs d_out, Inputs d_in, Accumulate accumulate) override {
    const Tensor &x = in[0], &y = out[0], &d_y = d_out[0], &d_x = d_in[0];
    char* scratch = static_cast<char*>(engine_.scratch(Engine::Scratch::block));
    const auto take = [&](Tensor like) {
      like.data = std::exchange(scratch, scratch + space(like));
      return like;
    };
    const Tensor d_a = take(a_), d_b = take(b_), d_s = take(y);

    expand_->backward({b_, shortcut(x)}, {y}, {d_y}, {d_b, d_s}, accumulate);
    spatial_->backward({a_}, {b_}, {d_b}, {d_a}, accumulate);
    reduce_->backward({x}, {a_}, {d_a}, {d_x}, accumulate);
    if (project_) {
      const Tensor d_x_shortcut = d_x ? take(x) : Tensor{};
      project_->backward({x}, {s_}, {d_s}, {d_x_shortcut}, accumulate);
      if (d_x) engine_.add(d_x, d_x_shortcut);
    } else if (d_x) {
      engine_.add(d_x, d_s);
    }
  }

 private:
  static Tensor shape_of(const ConvBnDesc& c) {  // of its output
    return {c.dtype, {c.batch, c.out_channels, c.out_height(), c.out_width()}, Layout::image, nullptr, 0};
  }

  int64_t space(const Tensor& t) const { return (engine_.storage_bytes(t.dtype, t.shape, t.layout) + 63) / 64 * 64; }

  Tensor keep(const Tensor& t, const char* purpose) {
    buffers_.push_back(engine_.allocate(space(t), purpose));
    return engine_.view(*buffers_.back(), t.dtype, t.shape, t.layout);
  }

  const Tensor& shortcut(const Tensor& x) const { return project_ ? s_ : x; }

  Engine& engine_;
  std::unique_ptr<Op> reduce_, spatial_, expand_, project_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  Tensor a_, b_, s_;  // outputs of reduce, spatial and project, kept from forward to backward
};

}  // namespace

std::unique_ptr<Op> Engine::bottleneck(const BottleneckDesc& desc) {
  check_descriptor(desc);
  return std::make_unique<Bottleneck>(*this, desc);
}

}  // namespace erg
