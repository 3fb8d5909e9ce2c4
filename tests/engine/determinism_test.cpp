// The same values give the same bits every time, whatever thread was faster: no op sums in the order in which threads finish.
#include "engines.hpp"
#include "op_run.hpp"

namespace erg::test {
namespace {

class OpDeterminism : public testing::TestWithParam<EngineCase> {};

TEST_P(OpDeterminism, SameBitsEveryTime) {
  const auto& [name, op] = GetParam();
  ERG_OPEN_OR_SKIP(engine, name);
  if (!engine->supports(dtype_of(op.desc))) GTEST_SKIP() << name << " has no " << name_of(dtype_of(op.desc));
  const auto results = [&] {
    OpRun run(*engine, op);
    run.fill(1);
    run.forward();
    run.backward();
    std::vector<Values> all = run.outputs();
    for (const std::vector<Values>& more : {run.input_gradients(), run.parameter_gradients(), run.state()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const std::vector<Values> first = results();
  for (int repeat = 0; repeat < 3; ++repeat) {
    const std::vector<Values> again = results();
    for (size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].values, again[i].values) << first[i].name;
  }
}

INSTANTIATE_TEST_SUITE_P(OpCases, OpDeterminism, testing::ValuesIn(engine_cases(engines_under_test)), engine_case_name);

}  // namespace
}  // namespace erg::test
