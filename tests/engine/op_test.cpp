// Every op of every engine against `ref`, on the shared case table: outputs, gradients of inputs and parameters, running statistics,
// evaluation; and that running an op again allocates nothing.
#include <algorithm>
#include <functional>

#include "allocations.hpp"
#include "engines.hpp"
#include "op_run.hpp"

namespace erg::test {
namespace {

// How far two right engines may be apart, worst value by value and as rms of the whole tensor, relative to the tensor's rms.
struct Bound {
  double rms_part, ulp_part, relative_rms;
};
// fp32: both sum the same products in another order. n terms, here up to 10^4, end up to sqrt(n) 2^-24 = 6e-6 apart; the largest of 10^5
// values is 4.4 standard deviations out.
constexpr Bound fp32_bound{5e-5, 1e-5, 1e-5};
// bf16 keeps 8 bits: a store moves a value by up to 2^-9 of itself, rms 2^-9 / sqrt(3) = 0.11 %. Two engines that round k stores each on
// their own are sqrt(2 k) 0.11 % apart: 0.45 % for the eight stores between a bottleneck's input and its gradient. The largest of 10^5
// values shows 4.4 times as much, and values are not even in size: attention's first positions have gradients of several rms, so errors
// of several times 0.3 %. The last store may fall on either side, one ulp: 2^-7 |b|.
constexpr Bound bf16_bound{5e-2, 0x1p-7, 6e-3};

bool has_relu(const OpDesc& desc) {
  if (const auto* conv = std::get_if<ConvBnDesc>(&desc)) return conv->relu;
  return std::holds_alternative<BottleneckDesc>(desc);
}

class OpTest : public testing::TestWithParam<EngineCase> {
 protected:
  void expect_same(const std::vector<Values>& actual, const std::vector<Values>& truth, const std::string& when) {
    ASSERT_EQ(actual.size(), truth.size()) << when;
    for (size_t i = 0; i < truth.size(); ++i) {
      const bool coarse = dtype_of(GetParam().op.desc) == DType::bf16 || truth[i].stored == DType::bf16;
      EXPECT_EQ(actual[i].name, truth[i].name);
      const Bound& bound = coarse ? bf16_bound : fp32_bound;
      const Difference d = compare(actual[i].values, truth[i].values, bound.rms_part, bound.ulp_part);
      EXPECT_LE(d.worst, 1) << when << ": " << truth[i].name << "[" << d.at << "] is " << actual[i].values[d.at] << ", ref has "
                            << truth[i].values[d.at] << ", rms " << d.rms;
      EXPECT_LE(d.relative_rms, bound.relative_rms) << when << ": " << truth[i].name << " as a whole";
      EXPECT_TRUE(d.rms > 0 || truth[i].name == "metrics") << truth[i].name << " is all zero: nothing is tested";
    }
  }

  // At a ReLU's kink the derivative is undefined, and two engines may be on different sides of it: send no gradient through outputs
  // that either has just above zero.
  static void avoid_kinks(OpRun& actual, OpRun& ref) {
    const std::vector<float> y = actual.outputs()[0].values, y_ref = ref.outputs()[0].values;
    std::vector<float> d_y = ref.output_gradients()[0].values;
    const auto near_kink = [](float v) { return v > 0 && v < 0.02f; };
    for (size_t i = 0; i < d_y.size(); ++i)
      if (near_kink(y[i]) || near_kink(y_ref[i])) d_y[i] = 0;
    actual.set_output_gradient(0, d_y);
    ref.set_output_gradient(0, d_y);
  }
};

TEST_P(OpTest, MatchesRef) {
  const auto& [name, op] = GetParam();
  ERG_OPEN_OR_SKIP(engine, name);
  const std::unique_ptr<Engine> ref_engine = open_engine("ref");
  if (!engine->supports(dtype_of(op.desc))) GTEST_SKIP() << name << " has no " << name_of(dtype_of(op.desc));
  OpRun actual(*engine, op), ref(*ref_engine, op);

  // Two rounds with other values: the second finds new weights, running statistics and gradients that are already there.
  for (int round = 0; round < 2; ++round) {
    const std::string when = "round " + std::to_string(round);
    const Accumulate accumulate = round == 1 && op.accumulate ? Accumulate::yes : Accumulate::no;
    for (OpRun* run : {&actual, &ref}) {
      run->fill(uint64_t(round + 1));
      run->forward();
    }
    if (!std::holds_alternative<ClassifierDesc>(op.desc)) expect_same(actual.outputs(), ref.outputs(), when);
    if (has_relu(op.desc)) avoid_kinks(actual, ref);
    for (OpRun* run : {&actual, &ref}) {
      run->poison_unread();
      run->backward(accumulate);
    }
    if (std::holds_alternative<ClassifierDesc>(op.desc)) expect_same(actual.outputs(), ref.outputs(), when);
    expect_same(actual.input_gradients(), ref.input_gradients(), when);
    expect_same(actual.parameter_gradients(), ref.parameter_gradients(), when);
    expect_same(actual.state(), ref.state(), when);
  }
  for (OpRun* run : {&actual, &ref}) {
    run->fill(3);
    run->forward(Mode::evaluate);
  }
  expect_same(actual.outputs(), ref.outputs(), "evaluation");
  expect_same(actual.state(), ref.state(), "evaluation");
}

INSTANTIATE_TEST_SUITE_P(OpCases, OpTest, testing::ValuesIn(engine_cases(engines_under_test)), engine_case_name);

class OpAllocations : public testing::TestWithParam<EngineCase> {};

TEST_P(OpAllocations, NoneAfterTheFirstStep) {
  const auto& [name, op] = GetParam();
  if (!allocations_are_counted()) GTEST_SKIP() << "the address sanitizer has its own malloc";
  ERG_OPEN_OR_SKIP(engine, name);
  if (!engine->supports(dtype_of(op.desc))) GTEST_SKIP() << name << " has no " << name_of(dtype_of(op.desc));
  OpRun run(*engine, op);
  const auto step = [&](Mode mode) {
    run.forward(mode);
    if (mode == Mode::train) run.backward(Accumulate::yes);
  };
  for (const Mode mode : {Mode::train, Mode::evaluate}) {
    step(mode);
    AllocationCount allocations;
    step(mode);
    step(mode);
    const long count = allocations.count();
    EXPECT_EQ(count, 0) << "the first by " << allocations.first();
  }
}

INSTANTIATE_TEST_SUITE_P(OpCases, OpAllocations, testing::ValuesIn(engine_cases(with_ref(engines_under_test))), engine_case_name);

TEST(AllocationCount, Counts) {
  if (!allocations_are_counted()) GTEST_SKIP() << "the address sanitizer has its own malloc";
  void* (*volatile allocate)(size_t) = std::malloc;  // volatile: else the compiler may leave an unused pair out
  void* (*volatile allocate_new)(size_t) = operator new;
  AllocationCount allocations;
  std::free(allocate(64));
  operator delete(allocate_new(64));
  EXPECT_EQ(allocations.count(), 2);
}

}  // namespace
}  // namespace erg::test
