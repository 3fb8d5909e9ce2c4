// Flat storage: what lies where, what decays, what is shared, and what ops are given.
#include "workload/parameters.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>

#include "core/error.hpp"

namespace erg {
namespace {

// An op that only declares parameters.
class Declares : public Op {
 public:
  explicit Declares(std::vector<ParameterSpec> specs) : specs_(std::move(specs)) {}
  std::vector<ParameterSpec> parameters() const override { return specs_; }
  void weights_changed() override { ++changes; }
  void forward(Inputs, Inputs, Mode) override {}
  void backward(Inputs, Inputs, Inputs, Inputs, Accumulate) override {}
  const ParameterView& view(size_t i) const { return bound()[i]; }
  int changes = 0;

 private:
  std::vector<ParameterSpec> specs_;
};

class DeclaresHead : public ClassifierOp {
 public:
  explicit DeclaresHead(std::vector<ParameterSpec> specs) : specs_(std::move(specs)) {}
  std::vector<ParameterSpec> parameters() const override { return specs_; }
  void bind(std::span<const ParameterView> v) override { views.assign(v.begin(), v.end()); }
  void import_parameter(size_t, const float*) override { ++imports; }
  void export_parameter(size_t, float*) const override {}
  void export_gradient(size_t, float*) const override {}
  void train(const Tensor&, const Tensor&, const Tensor&, const Tensor&, Accumulate) override {}
  void evaluate(const Tensor&, const Tensor&, const Tensor&) override {}
  std::vector<ParameterView> views;
  int imports = 0;

 private:
  std::vector<ParameterSpec> specs_;
};

const ParameterSpec weight{"weight", {5, 13}, 65, true, true};
const ParameterSpec bias{"bias", {5}, 8, false, true};  // padded by the op
const ParameterSpec gamma{"gamma", {7}, 7, false, false};

class Parameters : public ::testing::Test {
 protected:
  void place(DType compute, DType gradient, int moments) {
    store.add("a", a);
    store.add("b", b);
    store.allocate(*engine, compute, gradient);
    store.allocate_moments(*engine, moments);
  }
  std::unique_ptr<Engine> engine = open_ref_engine({});
  Declares a{{weight, bias}}, b{{gamma, weight}};
  ParameterStore store;
};

TEST_F(Parameters, AreNumberedInNetworkOrderAndPlacedDecayedFirst) {
  place(DType::f32, DType::f32, 2);
  std::vector<std::string> names;
  std::vector<int64_t> offsets;
  for (const Parameter& p : store.parameters()) names.push_back(p.name), offsets.push_back(p.offset);
  EXPECT_EQ(names, (std::vector<std::string>{"a.weight", "a.bias", "b.gamma", "b.weight"}));
  EXPECT_EQ(offsets, (std::vector<int64_t>{0, 256, 320, 128}));  // every start at a multiple of 64 elements
  EXPECT_EQ(store.flat().decay_elements, 256);
  EXPECT_EQ(store.flat().elements, 384);
}

TEST_F(Parameters, OpsSeeTheirOwnPlaces) {
  place(DType::bf16, DType::bf16, 2);
  const FlatStorage& flat = store.flat();
  EXPECT_EQ(b.view(1).master, flat.master + 128);
  EXPECT_EQ(b.view(1).compute, static_cast<bf16_bits*>(flat.compute) + 128);
  EXPECT_EQ(b.view(1).gradient, static_cast<bf16_bits*>(flat.gradient) + 128);
  EXPECT_EQ(b.view(1).gradient_dtype, DType::bf16);
  EXPECT_EQ(b.view(1).compute_dtype, DType::bf16);
  EXPECT_EQ(b.view(0).compute, nullptr) << "gamma wants no copy";
}

TEST_F(Parameters, InFp32TheMasterIsTheComputeCopy) {
  place(DType::f32, DType::f32, 2);
  EXPECT_EQ(store.flat().compute, nullptr);
  EXPECT_EQ(a.view(0).compute, a.view(0).master);
  EXPECT_EQ(b.view(0).compute, nullptr);
}

// METHOD §4: all fp32 16 bytes a parameter; bf16 weights and gradients 16; with fp32 gradients 18; momentum alone 4 less.
TEST(ParameterBytes, AreThoseOfTheMethod) {
  const auto bytes_per_element = [](DType compute, DType gradient, int moments) {
    const auto engine = open_ref_engine({});
    Declares op{{{"weight", {64, 64}, 64 * 64, true, true}}};
    ParameterStore store;
    store.add("op", op);
    store.allocate(*engine, compute, gradient);
    store.allocate_moments(*engine, moments);
    return double(engine->memory_in_use()) / (64 * 64);
  };
  EXPECT_EQ(bytes_per_element(DType::f32, DType::f32, 2), 16);
  EXPECT_EQ(bytes_per_element(DType::bf16, DType::bf16, 2), 16);
  EXPECT_EQ(bytes_per_element(DType::bf16, DType::f32, 2), 18);
  EXPECT_EQ(bytes_per_element(DType::f32, DType::f32, 1), 12);
}

TEST_F(Parameters, ATiedHeadLiesInTheTableAndIsNotCountedTwice) {
  DeclaresHead head({weight, {"bias", {5}, 5, false, true}});
  store.add("embed", a);
  store.add("head", head, "embed.weight");
  store.allocate(*engine, DType::f32, DType::f32);
  EXPECT_EQ(store.parameters().size(), 3u);
  EXPECT_EQ(store.parameters()[2].name, "head.bias");
  ASSERT_EQ(head.views.size(), 2u);
  EXPECT_EQ(head.views[0].master, a.view(0).master);
  EXPECT_EQ(head.views[0].gradient, a.view(0).gradient);
  store.import_all([](size_t, const Parameter&, std::vector<float>&) {});
  EXPECT_EQ(head.imports, 1) << "only the bias: the table is imported by its owner";
}

TEST_F(Parameters, ATieNeedsTheSameStorage) {
  DeclaresHead head({{"weight", {5, 13}, 128, true, true}});
  store.add("embed", a);
  EXPECT_THROW(store.add("head", head, "embed.weight"), Error);
  EXPECT_THROW(store.add("head", head, "embed.tokens"), Error) << "no such parameter";
}

TEST_F(Parameters, ImportsLogicalValuesAndTellsTheOps) {
  place(DType::bf16, DType::f32, 1);
  std::vector<size_t> numbers;
  store.import_all([&](size_t number, const Parameter& p, std::vector<float>& logical) {
    EXPECT_EQ(int64_t(logical.size()), elements(p.spec.shape));
    numbers.push_back(number);
    std::iota(logical.begin(), logical.end(), float(100 * number));
  });
  EXPECT_EQ(numbers, (std::vector<size_t>{0, 1, 2, 3}));
  EXPECT_EQ(b.view(1).master[64], 364.f);
  EXPECT_EQ(b.view(1).master[65], 0.f) << "padding stays zero";
  EXPECT_EQ(to_float(static_cast<bf16_bits*>(b.view(1).compute)[0]), 300.f);
  EXPECT_EQ(a.changes, 1);
  EXPECT_EQ(b.changes, 1);
}

TEST_F(Parameters, GradientsAreReadByNumber) {
  place(DType::f32, DType::bf16, 1);
  static_cast<bf16_bits*>(b.view(0).gradient)[6] = to_bf16(2.5f);
  const std::vector<float> gradient = store.gradient(2);  // b.gamma
  ASSERT_EQ(gradient.size(), 7u);
  EXPECT_EQ(gradient[6], 2.5f);
  EXPECT_EQ(gradient[0], 0.f);
}

}  // namespace
}  // namespace erg
