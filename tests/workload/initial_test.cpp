// Initial values: which tensors get which spread, and that the values are the formula's whatever the number of threads.
#include "workload/initial.hpp"

#include <gtest/gtest.h>

#include "core/rng.hpp"

namespace erg {
namespace {

Parameter parameter(const std::string& name, const Shape& shape) { return {name, {"", shape, elements(shape), true, true}, 0}; }

WorkloadSpec gpt() {
  WorkloadSpec w;
  w.kind = WorkloadKind::gpt;
  w.gpt.layers = 8;
  return w;
}

WorkloadSpec resnet() {
  WorkloadSpec w;
  w.kind = WorkloadKind::resnet50;
  return w;
}

TEST(InitialValues, OfGpt) {
  EXPECT_DOUBLE_EQ(initial_values(parameter("embed.tokens", {100, 8}), gpt()).std, 0.02);
  EXPECT_DOUBLE_EQ(initial_values(parameter("h.0.qkv.weight", {24, 8}), gpt()).std, 0.02);
  EXPECT_DOUBLE_EQ(initial_values(parameter("h.3.proj.weight", {8, 8}), gpt()).std, 0.005) << "0.02 / sqrt(2 x 8)";
  EXPECT_DOUBLE_EQ(initial_values(parameter("h.3.down.weight", {8, 32}), gpt()).std, 0.005);
  EXPECT_DOUBLE_EQ(initial_values(parameter("h.3.up.bias", {32}), gpt()).std, 0);
  EXPECT_DOUBLE_EQ(initial_values(parameter("h.3.up.bias", {32}), gpt()).mean, 0);
  EXPECT_DOUBLE_EQ(initial_values(parameter("ln_f.gamma", {8}), gpt()).mean, 1);
}

TEST(InitialValues, OfResNet) {
  EXPECT_DOUBLE_EQ(initial_values(parameter("layer1.0.spatial.weight", {32, 16, 3, 3}), resnet()).std, std::sqrt(2.0 / (32 * 9)));
  EXPECT_DOUBLE_EQ(initial_values(parameter("head.weight", {10, 64}), resnet()).std, 0.01);
  EXPECT_DOUBLE_EQ(initial_values(parameter("layer1.0.spatial.gamma", {64}), resnet()).mean, 1);
  EXPECT_DOUBLE_EQ(initial_values(parameter("layer1.0.expand.gamma", {64}), resnet()).mean, 0.25);
  EXPECT_DOUBLE_EQ(initial_values(parameter("layer1.0.expand.beta", {64}), resnet()).mean, 0);
}

// Keeps what it is given.
class Keeps : public Op {
 public:
  Keeps(Shape shape) : shape_(shape) {}
  std::vector<ParameterSpec> parameters() const override { return {{"weight", shape_, elements(shape_), true, true}}; }
  void forward(Inputs, Inputs, Mode) override {}
  void backward(Inputs, Inputs, Inputs, Inputs, Accumulate) override {}
  const float* values() const { return bound()[0].master; }

 private:
  Shape shape_;
};

TEST(Initialize, FollowsTheFormulaAtEveryIndexAndStream) {
  const auto engine = open_ref_engine({});
  Keeps first({3, 4}), large({2048, 1536});  // the second is filled by several threads
  ParameterStore store;
  store.add("h.0.qkv", first);
  store.add("h.1.qkv", large);
  store.allocate(*engine, DType::f32, DType::f32);
  WorkloadSpec w = gpt();
  w.seed = 7;
  initialize(store, w);
  for (const uint64_t i : {0, 5, 11}) EXPECT_EQ(first.values()[i], random_centered(7, 0, i, 0.02));
  for (const uint64_t i : {0, 1, 1048576, 1572864, 3145727}) EXPECT_EQ(large.values()[i], random_centered(7, 1, i, 0.02));
}

}  // namespace
}  // namespace erg
