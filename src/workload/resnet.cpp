// ResNet-50 v1.5 (He et al. 2015, table 1) with SGD and momentum. wire() is the paper's table from top to bottom.
#include <algorithm>
#include <type_traits>

#include "workload/training.hpp"

namespace erg {
namespace {

Shape output_shape(const ConvBnDesc& d) { return {d.batch, d.out_channels, d.out_height(), d.out_width()}; }
Shape output_shape(const MaxPoolDesc& d) { return {d.batch, d.channels, d.out_height(), d.out_width()}; }
Shape output_shape(const BottleneckDesc& d) { return output_shape(d.expand()); }
Shape output_shape(const GlobalAvgPoolDesc& d) { return {d.batch, d.channels}; }

class ResNet final : public Training {
 public:
  using Training::Training;
  const char* sample_unit() const override { return "images"; }

 protected:
  void wire() override {
    allocate_shared();
    Variable x = images();            // [n, 3, 224, 224]
    x = apply(&Engine::conv_bn, x);   // 7x7/2: [n, 64, 112, 112]
    x = apply(&Engine::max_pool, x);  // 3x3/2: [n, 64, 56, 56]
    for (const int64_t blocks : shape_.blocks) {
      for (int64_t block = 0; block < blocks; ++block) x = apply(&Engine::bottleneck, x);  // to [n, 2048, 7, 7]
    }
    x = apply(&Engine::global_avg_pool, x);  // [n, 2048]
    head(x);
  }

  void load(const HostBatch& batch) override {
    engine_.write(images_, batch.pixels.data());
    engine_.write(labels_, batch.targets.data());
  }

  int moments() const override { return 1; }
  void optimize(OptimizerOp& optimizer, const FlatStorage& flat, double learning_rate, int64_t step) override {
    const OptimizerSpec& o = spec_.workload.optimizer;
    optimizer.sgd(flat, {learning_rate, o.momentum, o.weight_decay, step});
  }

 private:
  // The network is a chain, so two gradients are in flight: an op reads one and writes the other, or the same.
  void allocate_shared() {
    int64_t largest[2] = {};
    for (const NamedOp& op : plan_.network.ops) {
      std::visit(
          [&](const auto& d) {
            if constexpr (requires { output_shape(d); }) largest[turn(d)] = std::max(largest[turn_], bytes(output_shape(d)));
          },
          op.desc);
    }
    for (size_t i : {0, 1}) gradients_[i] = &allocate(largest[i], "gradients in flight");
    turn_ = 0;
  }

  // Where the gradient of this op's output goes: a block with the identity as its shortcut turns it into its input's in place.
  template <class Desc>
  size_t turn(const Desc& d) {
    bool in_place = false;
    if constexpr (std::is_same_v<Desc, BottleneckDesc>) in_place = !d.projection;
    return turn_ = in_place ? turn_ : 1 - turn_;
  }

  static Layout layout_of(const Shape& shape) { return shape.size() == 4 ? Layout::image : Layout::plain; }
  int64_t bytes(const Shape& shape) const { return engine_.storage_bytes(plan_.dtype, shape, layout_of(shape)); }

  Variable images() {
    images_ = allocate(plan_.dtype, {plan_.micro_batch, 3, shape_.image_size, shape_.image_size}, Layout::image, "batch");
    return {images_, {}};
  }

  template <class Desc>
  Variable apply(std::unique_ptr<Op> (Engine::*make)(const Desc&), const Variable& x) {
    const Desc& d = next<Desc>();
    const Shape shape = output_shape(d);
    const Tensor gradient = engine_.view(*gradients_[turn(d)], plan_.dtype, shape, layout_of(shape));
    // No backward reads what the stem gives to the pool, so it lies where its gradient will.
    constexpr bool is_stem = std::is_same_v<Desc, ConvBnDesc>;
    const Variable y{is_stem ? gradient : allocate(plan_.dtype, shape, layout_of(shape), "activations"), gradient};
    add((engine_.*make)(d), {x}, {y});
    return y;
  }

  void head(const Variable& x) {
    const ClassifierDesc& d = next<ClassifierDesc>();
    labels_ = allocate(DType::i32, {d.rows}, Layout::plain, "batch");
    add_head(engine_.classifier(d), x, labels_);
  }

  const ResNetShape& shape_ = spec_.workload.resnet;
  Tensor images_, labels_;
  Buffer* gradients_[2] = {};
  size_t turn_ = 0;
};

}  // namespace

std::unique_ptr<Workload> make_resnet(const Spec& spec, const Plan& plan, Engine& engine, std::unique_ptr<Batches> batches) {
  return std::make_unique<ResNet>(spec, plan, engine, std::move(batches));
}

}  // namespace erg
