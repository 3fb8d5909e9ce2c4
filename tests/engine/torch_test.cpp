// `ref` computes what PyTorch does: outputs, gradients and running statistics against torch_reference.json, which
// make_torch_reference.py made in fp64 from the same values.
#include <cmath>

#include "core/rng.hpp"
#include "engines.hpp"
#include "op_run.hpp"
#include "torch_reference.hpp"

namespace erg::test {
namespace {

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const auto& [name, tensors] : torch_reference()["ops"].items()) names.push_back(name);
  return names;
}

OpCase fp32_case(const std::string& name) {
  for (OpCase c : op_cases())
    if (describe(c.desc) == name) {
      c.gradients = DType::f32;
      c.in_place = false;
      c.stream = true;
      return c;
    }
  throw std::runtime_error("op_cases has no " + name);
}

// The two numbers of a tensor that the file keeps. Sums in fp32 leave about 1e-6 of the norm.
void expect_summary(const Values& v, const json& truth) {
  ASSERT_EQ(truth.size(), 2u) << v.name;
  double squares = 0, projection = 0;
  for (size_t i = 0; i < v.values.size(); ++i) {
    squares += double(v.values[i]) * v.values[i];
    projection += double(v.values[i]) * random_centered(9, 0, i, 1);
  }
  const double norm = truth[0];
  EXPECT_NEAR(std::sqrt(squares), norm, 1e-5 * norm) << v.name;
  EXPECT_NEAR(projection, double(truth[1]), 1e-5 * norm) << v.name;
}

class TorchReference : public testing::TestWithParam<std::string> {};

TEST_P(TorchReference, IsWhatRefComputes) {
  const OpCase c = fp32_case(GetParam());
  const json& truth = torch_reference()["ops"][GetParam()];
  const std::unique_ptr<Engine> engine = open_engine("ref");
  OpRun run(*engine, c);
  run.forward();
  run.backward();
  const auto expect_all = [](const std::vector<Values>& actual, const json& tensors) {
    for (const Values& v : actual) expect_summary(v, tensors.value(v.name, json()));
    return actual.size();
  };
  EXPECT_EQ(expect_all(run.outputs(), truth["out"]), truth["out"].size());
  EXPECT_EQ(expect_all(run.input_gradients(), truth["gradients"]) + expect_all(run.parameter_gradients(), truth["gradients"]),
            truth["gradients"].size());
  EXPECT_EQ(expect_all(run.state(), truth["state"]), truth["state"].size());
}

INSTANTIATE_TEST_SUITE_P(Ref, TorchReference, testing::ValuesIn(case_names()), [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace erg::test
