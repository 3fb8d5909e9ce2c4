// Optimizer sweeps and the sum of squares against double: every instruction set is a test. (OptimizerTest holds them to PyTorch.)
#include <gtest/gtest.h>

#include <cmath>

#include "core/rng.hpp"
#include "tables.hpp"

namespace erg::test {
namespace {

constexpr int64_t count = 1003, decays = 517;

class OptimizerKernel : public testing::TestWithParam<Tables> {
 protected:
  Array random(DType dtype, uint64_t stream) {
    return Array(dtype, count, [&](int64_t i) { return random_centered(1, stream, uint64_t(i), 1); });
  }
};

TEST_P(OptimizerKernel, AdamW) {
  for (const DType gradients : {DType::f32, DType::bf16}) {
    Array w = random(DType::f32, 0), g = random(gradients, 1), m = random(DType::f32, 2), v = random(DType::f32, 3),
          copy(DType::bf16, count);
    for (int64_t i = 0; i < count; ++i) v.set(i, std::abs(v[i]));
    const Array w0 = w, m0 = m, v0 = v;
    OptimizerArrays a;
    a.elements = count, a.decay_elements = decays;
    a.master = static_cast<float*>(w.data()), a.copy = copy.data(), a.gradient = g.data(), a.gradient_dtype = gradients;
    a.state1 = static_cast<float*>(m.data()), a.state2 = static_cast<float*>(v.data());
    const AdamW s{.clip = 0.5f,
                  .shrink = 0.75f,
                  .one_minus_beta1 = 0.1f,
                  .beta2 = 0.95f,
                  .one_minus_beta2 = 0.05f,
                  .step_size = 0.01f,
                  .root_correction2 = 0.25f,
                  .epsilon = 1e-3f};
    GetParam().optimizer->adamw(a, s);
    for (int64_t i = 0; i < count; ++i) {
      const double gi = 0.5 * g[i], mi = m0[i] + 0.1 * (gi - m0[i]), vi = 0.95 * v0[i] + 0.05 * gi * gi;
      ASSERT_NEAR(m[i], mi, 3e-7);
      ASSERT_NEAR(v[i], vi, 3e-7);
      ASSERT_NEAR(w[i], (i < decays ? 0.75 : 1) * w0[i] - 0.01 * mi / (std::sqrt(vi) / 0.25 + 1e-3), 5e-7);
      ASSERT_EQ(copy[i], to_float(to_bf16(float(w[i]))));
    }
  }
}

TEST_P(OptimizerKernel, SumOfSquares) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    Array g = random(dtype, 1);
    std::vector<double> parts(norm_parts);
    GetParam().optimizer->squares(dtype, g.data(), count, parts.data());
    double sum = 0, truth = 0;
    for (const double p : parts) sum += p;
    for (int64_t i = 0; i < count; ++i) truth += g[i] * g[i];
    EXPECT_NEAR(sum, truth, 1e-12 * truth);
  }
}

INSTANTIATE_TEST_SUITE_P(Isa, OptimizerKernel, testing::ValuesIn(tables_here()), isa_name);

}  // namespace
}  // namespace erg::test
