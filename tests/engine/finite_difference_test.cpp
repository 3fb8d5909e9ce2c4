// The gradients of `ref` are the derivatives of its forward: dL/dv by central differences, for L = sum of d_out * out in double.
#include <algorithm>
#include <cmath>

#include "core/rng.hpp"
#include "engines.hpp"
#include "op_run.hpp"

namespace erg::test {
namespace {

// Every descriptor in fp32 throughout, norms with and without the stream's gradient, if small enough to be evaluated a few hundred
// times. A classifier's loss is one fp32 sum over its rows, precise enough for differences over a few rows only.
std::vector<EngineCase> differentiable_cases() {
  std::vector<EngineCase> cases;
  for (const OpDesc& desc : op_descriptors()) {
    const auto* classifier = std::get_if<ClassifierDesc>(&desc);
    if (cost(desc).flops_forward >= 1e7 || (classifier && classifier->rows > 5)) continue;
    OpCase c{desc};
    c.accumulate = false;
    c.gradients = DType::f32;
    c.in_place = false;
    c.stream = true;
    cases.push_back({"ref", c});
    if (!std::holds_alternative<ResidualNormDesc>(desc)) continue;
    c.stream = false;
    cases.push_back({"ref", c});
  }
  return cases;
}

// Derivatives exist only away from kinks. Shifts of -8 and 8 keep every ReLU clearly off or on, and a pool's values lie 0.04 apart.
void keep_off_kinks(OpRun& run, const OpDesc& desc) {
  std::vector<Values> variables = run.variables();
  for (size_t v = 0; v < variables.size(); ++v) {
    std::vector<float>& values = variables[v].values;
    if (std::holds_alternative<MaxPoolDesc>(desc)) {
      std::vector<uint64_t> order(values.size());
      for (size_t i = 0; i < order.size(); ++i) order[i] = random_bits(5, v, i);
      std::vector<uint64_t> sorted = order;
      std::sort(sorted.begin(), sorted.end());
      for (size_t i = 0; i < order.size(); ++i)
        values[i] = 0.04f * float(std::lower_bound(sorted.begin(), sorted.end(), order[i]) - sorted.begin());
    } else if (op_class(desc) == "convolution" && variables[v].name.ends_with("beta")) {
      for (size_t i = 0; i < values.size(); ++i) values[i] = i % 3 == 0 ? -8.0f : 8.0f;
    }
    run.set_variable(v, values);
  }
}

double dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += double(a[i]) * b[i];
  return sum;
}

// What a training step made, and the weights with which L sums it: an output and its d_out. A classifier's loss is its own. d_r of a
// norm without residual weighs x, which is the stream.
struct Weighed {
  std::vector<float> values, weights;
};
std::vector<Weighed> step(OpRun& run, const OpDesc& desc) {
  if (const auto* c = std::get_if<ClassifierDesc>(&desc)) {
    run.backward();
    return {{run.outputs()[0].values, {float(c->loss_scale), 0}}};
  }
  run.forward();
  std::vector<Values> out = run.outputs();
  const auto* norm = std::get_if<ResidualNormDesc>(&desc);
  if (norm && !norm->residual) out.push_back({"r", DType::f32, run.variables()[0].values});
  std::vector<Weighed> all;
  for (const Values& d : run.output_gradients())
    for (const Values& y : out)
      if (d.name == "d_" + y.name) all.push_back({y.values, d.values});
  return all;
}

double loss(OpRun& run, const OpDesc& desc) {
  double sum = 0;
  for (const Weighed& w : step(run, desc)) sum += dot(w.values, w.weights);
  return sum;
}

// Half a unit in the last place of every fp32 output, weighed and summed at random as L sums them, in a difference over 2 h: how far
// off the derivative may be through rounding alone, with a factor 2 for what is rounded inside the op. About 0.005 for 10^4 outputs of
// size 5; it only matters for gradients that vanish, such as that of a shift before a batch norm.
double rounding_error(OpRun& run, const OpDesc& desc, float h) {
  double squares = 0;
  for (const Weighed& w : step(run, desc))
    for (size_t i = 0; i < w.values.size(); ++i) squares += std::pow(double(w.values[i]) * w.weights[i], 2);
  return 2 * 0x1p-24 * std::sqrt(squares) / h;
}

class FiniteDifferences : public testing::TestWithParam<EngineCase> {};

// With steps of h = 2^-7 beside values of size 1 the cut-off is of order h^2 = 6e-5. A wrong factor, sign or index is far above 1 %.
TEST_P(FiniteDifferences, AreTheGradients) {
  const OpCase& op = GetParam().op;
  const std::unique_ptr<Engine> engine = open_engine("ref");
  OpRun run(*engine, op);
  keep_off_kinks(run, op.desc);
  run.forward();
  run.backward();
  const std::vector<Values> variables = run.variables(), gradients = run.variable_gradients();
  ASSERT_EQ(variables.size(), gradients.size());

  constexpr size_t samples = 24;
  constexpr float h = 0x1p-7f;
  const double noise = rounding_error(run, op.desc, h);
  int compared = 0;
  for (size_t v = 0; v < variables.size(); ++v) {
    const std::vector<float>& g = gradients[v].values;
    const double rms = g.empty() ? 0 : std::sqrt(dot(g, g) / double(g.size()));
    for (size_t s = 0; s < std::min(samples, g.size()); ++s, ++compared) {
      const size_t at = size_t(random_bits(7, v, s) % g.size());
      std::vector<float> changed = variables[v].values;
      const float up = changed[at] + h, down = changed[at] - h;
      changed[at] = up;
      run.set_variable(v, changed);
      const double high = loss(run, op.desc);
      changed[at] = down;
      run.set_variable(v, changed);
      const double low = loss(run, op.desc);
      EXPECT_NEAR(g[at], (high - low) / (double(up) - double(down)), noise + 1e-2 * std::max(rms, std::abs(double(g[at]))))
          << gradients[v].name << "[" << at << "], the gradient's rms is " << rms << ", noise " << noise;
    }
    run.set_variable(v, variables[v].values);
  }
  EXPECT_GT(compared, 0);
}

INSTANTIATE_TEST_SUITE_P(Ref, FiniteDifferences, testing::ValuesIn(differentiable_cases()), engine_case_name);

}  // namespace
}  // namespace erg::test
