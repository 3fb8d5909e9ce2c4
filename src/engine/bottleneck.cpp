// ResNet's bottleneck block (He et al. 2015, figure 5 right; stride in the 3x3 as in v1.5) composed from four fused convolutions:
//   a = reduce(x);  b = spatial(a);  s = project(x) or x;  y = relu(expand(b) + s)
// An engine that can fuse across them overrides Engine::bottleneck.
#include <fmt/format.h>

#include <utility>

#include "core/error.hpp"
#include "engine/check.hpp"
#include "engine/engine.hpp"

namespace erg {
namespace {

class Bottleneck final : public Op {
 public:
  Bottleneck(Engine& engine, const BottleneckDesc& d) : engine_(engine) {
    add_part("reduce", d.reduce());
    add_part("spatial", d.spatial());
    add_part("expand", d.expand());
    if (d.projection) add_part("project", d.project());

    const Tensor a = shape_of(d.reduce()), b = shape_of(d.spatial()), y = shape_of(d.expand());
    const Tensor x{d.dtype, {d.batch, d.in_channels, d.in_height, d.in_width}, Layout::image, nullptr, 0};
    a_ = keep(a, "bottleneck reduce");
    b_ = keep(b, "bottleneck spatial");
    if (d.projection) s_ = keep(y, "bottleneck shortcut");
    const int64_t gradients = space(a) + space(b) + space(y) + (d.projection ? space(x) : 0);
    engine.reserve_scratch(gradients, Engine::Scratch::block);
  }

  std::vector<ParameterSpec> parameters() const override {
    std::vector<ParameterSpec> all;
    for (const Part& part : parts_)
      for (ParameterSpec p : part.op->parameters()) {
        p.name = part.name + "." + p.name;
        all.push_back(std::move(p));
      }
    return all;
  }

  void bind(std::span<const ParameterView> views) override {
    for (Part& part : parts_) part.op->bind(views.subspan(part.first_parameter, part.parameters));
  }

  void weights_changed() override {
    for (Part& part : parts_) part.op->weights_changed();
  }

  std::vector<StateView> state() override {
    std::vector<StateView> all;
    for (Part& part : parts_)
      for (StateView s : part.op->state()) all.push_back({part.name + "." + s.name, s.data, s.size});
    return all;
  }

  void forward(Inputs in, Inputs out, Mode mode) override {
    const Tensor& x = in[0];
    op(reduce).forward({x}, {a_}, mode);
    op(spatial).forward({a_}, {b_}, mode);
    if (has_projection()) op(project).forward({x}, {s_}, mode);
    op(expand).forward({b_, shortcut(x)}, {out[0]}, mode);
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

    op(expand).backward({b_, shortcut(x)}, {y}, {d_y}, {d_b, d_s}, accumulate);
    op(spatial).backward({a_}, {b_}, {d_b}, {d_a}, accumulate);
    op(reduce).backward({x}, {a_}, {d_a}, {d_x}, accumulate);
    if (has_projection()) {
      const Tensor d_x_shortcut = d_x ? take(x) : Tensor{};
      op(project).backward({x}, {s_}, {d_s}, {d_x_shortcut}, accumulate);
      if (d_x) engine_.add(d_x, d_x_shortcut);
    } else if (d_x) {
      engine_.add(d_x, d_s);
    }
  }

  void import_parameter(size_t index, const float* logical) override {
    const Part& part = owner(index);
    part.op->import_parameter(index - part.first_parameter, logical);
  }
  void export_parameter(size_t index, float* logical) const override {
    const Part& part = owner(index);
    part.op->export_parameter(index - part.first_parameter, logical);
  }
  void export_gradient(size_t index, float* logical) const override {
    const Part& part = owner(index);
    part.op->export_gradient(index - part.first_parameter, logical);
  }

 private:
  enum PartIndex : size_t { reduce, spatial, expand, project };
  struct Part {
    std::string name;
    std::unique_ptr<Op> op;
    size_t first_parameter, parameters;
  };

  void add_part(const std::string& name, const ConvBnDesc& desc) {
    std::unique_ptr<Op> op = engine_.conv_bn(desc);
    const size_t first = parts_.empty() ? 0 : parts_.back().first_parameter + parts_.back().parameters;
    const size_t count = op->parameters().size();
    parts_.push_back({name, std::move(op), first, count});
  }

  const Part& owner(size_t index) const {
    for (const Part& part : parts_)
      if (index < part.first_parameter + part.parameters) return part;
    throw Error(ErrorKind::failed, fmt::format("a bottleneck has no parameter {}", index), "bottleneck");
  }

  static Tensor shape_of(const ConvBnDesc& c) {  // of its output
    return {c.dtype, {c.batch, c.out_channels, c.out_height(), c.out_width()}, Layout::image, nullptr, 0};
  }

  int64_t space(const Tensor& t) const { return (engine_.storage_bytes(t.dtype, t.shape, t.layout) + 63) / 64 * 64; }

  Tensor keep(const Tensor& t, const char* purpose) {
    buffers_.push_back(engine_.allocate(space(t), purpose));
    return engine_.view(*buffers_.back(), t.dtype, t.shape, t.layout);
  }

  bool has_projection() const { return parts_.size() > project; }
  const Tensor& shortcut(const Tensor& x) const { return has_projection() ? s_ : x; }
  Op& op(PartIndex i) { return *parts_[i].op; }

  Engine& engine_;
  std::vector<Part> parts_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  Tensor a_, b_, s_;  // outputs of reduce, spatial and project, kept from forward to backward
};

}  // namespace

std::unique_ptr<Op> Engine::bottleneck(const BottleneckDesc& desc) {
  check_descriptor(desc);
  return std::make_unique<Bottleneck>(*this, desc);
}

}  // namespace erg
