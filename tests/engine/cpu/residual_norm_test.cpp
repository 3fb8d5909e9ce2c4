// Layer norm where rounding matters, and the same results whatever the number of threads: every instruction set is a test.
#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>

#include "core/rng.hpp"
#include "tables.hpp"

namespace erg::test {
namespace {

class ResidualNormKernel : public testing::TestWithParam<Tables> {};

// A mean that is 1000 standard deviations: mean of squares less square of mean would keep nothing of the variance.
TEST_P(ResidualNormKernel, LargeMean) {
  constexpr int64_t rows = 3, hidden = 205;
  std::vector<float> x(rows * hidden), y(x), gamma(hidden, 1.0f), beta(hidden, 0.5f);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 1000 + random_centered(1, 0, i, 1);
  ResidualNorm a;
  a.rows = rows, a.hidden = hidden, a.gamma = gamma.data(), a.beta = beta.data(), a.x = x.data(), a.y = y.data();
  GetParam().residual_norm->forward(a);
  for (int64_t row = 0; row < rows; ++row) {
    const float* const v = &x[size_t(row * hidden)];
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < hidden; ++i) mean += v[i] / double(hidden);
    for (int64_t i = 0; i < hidden; ++i) variance += (v[i] - mean) * (v[i] - mean) / double(hidden);
    // fp32 has the mean to some 1000 x 2^-24, and that is the error.
    for (int64_t i = 0; i < hidden; ++i) ASSERT_NEAR(y[size_t(row * hidden + i)], 0.5 + (v[i] - mean) / std::sqrt(variance + 1e-5), 3e-4);
  }
}

TEST_P(ResidualNormKernel, GradientsDoNotDependOnThreads) {
  constexpr int64_t rows = 77, hidden = 48;
  std::vector<float> r(rows * hidden), d_y(r), gamma(hidden, 1.0f), mean(rows, 0.0f), rstd(rows, 1.0f);
  for (size_t i = 0; i < r.size(); ++i) r[i] = random_centered(1, 0, i, 1), d_y[i] = random_centered(1, 1, i, 1);
  std::vector<float> d_gamma[2], d_x[2];
  const int threads = omp_get_max_threads();
  for (int i = 0; i < 2; ++i) {
    omp_set_num_threads(i == 0 ? 1 : 3);
    std::vector<float> d_beta(hidden), partials(size_t(residual_norm_partials(hidden)));
    d_gamma[i].resize(hidden), d_x[i].resize(r.size());
    ResidualNorm a;
    a.rows = rows, a.hidden = hidden, a.gamma = gamma.data(), a.mean = mean.data(), a.rstd = rstd.data();
    a.r = r.data(), a.d_y = d_y.data(), a.d_x = d_x[i].data();
    a.d_gamma = d_gamma[i].data(), a.d_beta = d_beta.data(), a.partials = partials.data();
    GetParam().residual_norm->backward(a);
  }
  omp_set_num_threads(threads);
  EXPECT_EQ(d_gamma[0], d_gamma[1]);
  EXPECT_EQ(d_x[0], d_x[1]);
}

INSTANTIATE_TEST_SUITE_P(Isa, ResidualNormKernel, testing::ValuesIn(tables_here()), isa_name);

}  // namespace
}  // namespace erg::test
