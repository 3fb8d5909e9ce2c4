// Statistics against NumPy 2.4 (np.median, np.quantile, np.std(ddof=1), and the bootstrap written again in NumPy with the formula
// of core/rng.hpp), and against closed forms of statistics.
#include "core/stats.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/rng.hpp"

namespace erg {
namespace {

const std::vector<double> steps = {0.512, 0.498, 0.505, 0.731, 0.501, 0.499, 0.503, 0.507, 0.500, 0.502, 0.497, 0.515, 0.508};
const std::vector<double> none;
const std::vector<double> with_nan = {1, std::numeric_limits<double>::quiet_NaN(), 2};

// Normal with mean 0 and deviation 1, by Box and Muller's transform.
std::vector<double> normal_series(size_t n, uint64_t stream) {
  std::vector<double> x(n);
  for (size_t i = 0; i < n; ++i) {
    const double u = 1 - double(random_uniform(3, stream, 2 * i)), v = random_uniform(3, stream, 2 * i + 1);
    x[i] = std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * v);
  }
  return x;
}

TEST(Stats, MomentsAndQuantilesAsNumPy) {
  EXPECT_DOUBLE_EQ(median(steps), 0.503);
  EXPECT_DOUBLE_EQ(median(std::vector<double>{4, 1, 3, 2}), 2.5);
  EXPECT_DOUBLE_EQ(mean(steps), 0.5213846153846153);
  EXPECT_DOUBLE_EQ(stddev(steps), 0.06321331407957564);
  EXPECT_DOUBLE_EQ(quantile(steps, 0), 0.497);
  EXPECT_DOUBLE_EQ(quantile(steps, 0.05), 0.4976);
  EXPECT_DOUBLE_EQ(quantile(steps, 0.25), 0.5);
  EXPECT_DOUBLE_EQ(quantile(steps, 0.9), 0.5144);
  EXPECT_DOUBLE_EQ(quantile(steps, 0.95), 0.6013999999999997);
  EXPECT_DOUBLE_EQ(quantile(steps, 1), 0.731);
}

TEST(Stats, WhatCannotBeKnownIsNaN) {
  for (const auto& x : {none, with_nan}) {
    EXPECT_TRUE(std::isnan(median(x)));
    EXPECT_TRUE(std::isnan(quantile(x, 0.5)));
    EXPECT_TRUE(std::isnan(mean(x)));
    EXPECT_TRUE(std::isnan(median_ci95(x).low));
    EXPECT_TRUE(std::isnan(mean_ci95(x).high));
    EXPECT_TRUE(std::isnan(median_standard_error(x)));
  }
  EXPECT_TRUE(std::isnan(quantile(steps, 1.01)));
  EXPECT_TRUE(std::isnan(stddev(std::vector<double>{1})));
  EXPECT_TRUE(std::isnan(median_standard_error(std::vector<double>{1})));
  EXPECT_TRUE(std::isnan(autocorrelation_lag1(std::vector<double>{1})));
  EXPECT_TRUE(std::isnan(autocorrelation_lag1(std::vector<double>{2, 2, 2})));  // no variance, no correlation
  EXPECT_TRUE(modified_z(none).empty());
}

TEST(Stats, BootstrapAsNumPy) {
  EXPECT_DOUBLE_EQ(median_ci95(steps).low, 0.501);
  EXPECT_DOUBLE_EQ(median_ci95(steps).high, 0.508);
  EXPECT_NEAR(mean_ci95(steps).low, 0.5028442307692308, 1e-15);
  EXPECT_NEAR(mean_ci95(steps).high, 0.5553096153846153, 1e-15);
  EXPECT_NEAR(median_standard_error(steps), 0.0021335734527763435, 1e-15);
  EXPECT_DOUBLE_EQ(median_ci95(std::vector<double>{7}).low, 7);
  EXPECT_DOUBLE_EQ(median_ci95(std::vector<double>{7}).high, 7);
}

// Steps that stand at an end of the window, as after a throttling that began late, are drawn as often as others.
TEST(Stats, TheIntervalHoldsItsMeanWhereverTheSlowStepsAre) {
  for (const size_t first : {size_t(0), size_t(400), size_t(798)}) {
    std::vector<double> x(800, 0.001);
    for (size_t i = first; i < first + 2; ++i) x[i] = 0.6;
    const Interval ci = mean_ci95(x);
    EXPECT_LT(ci.low, mean(x)) << first;
    EXPECT_GT(ci.high, mean(x)) << first;
  }
}

// The standard error of a normal sample's median is sqrt(pi / 2n) (Kenney and Keeping 1962).
TEST(Stats, StandardErrorOfNormalSamples) {
  constexpr size_t n = 900, series = 20;
  double sum = 0;
  for (size_t i = 0; i < series; ++i) sum += median_standard_error(normal_series(n, i));
  EXPECT_NEAR(sum / series / std::sqrt(M_PI / (2 * n)), 1, 0.15);
}

TEST(Stats, IntervalCoversTheTrueMedian) {
  int covered = 0;
  constexpr int series = 200;
  for (int i = 0; i < series; ++i) {
    const Interval ci = median_ci95(normal_series(100, uint64_t(i)), 400);
    covered += ci.low <= 0 && 0 <= ci.high;
  }
  EXPECT_GE(covered, 0.87 * series);  // block bootstraps of 100 samples run a little narrow
  EXPECT_LT(covered, series);         // an interval that always covers says nothing
}

// Correlated steps carry less information: the interval of x_t = 0.8 x_{t-1} + e_t must be wider than that of the shuffled series.
TEST(Stats, BlocksKeepCorrelation) {
  std::vector<double> x = normal_series(400, 99);
  for (size_t i = 1; i < x.size(); ++i) x[i] += 0.8 * x[i - 1];
  EXPECT_NEAR(autocorrelation_lag1(x), 0.8, 0.1);
  std::vector<double> shuffled = x;
  for (size_t i = x.size() - 1; i > 0; --i) std::swap(shuffled[i], shuffled[random_bits(5, 0, i) % (i + 1)]);
  EXPECT_GT(median_standard_error(x), 1.5 * median_standard_error(shuffled));
}

TEST(Stats, ModifiedZ) {
  const std::vector<double> expected = {1.517625, 0.843125, 0.33725,  38.4465, 0.33725, 0.6745,  0.0,
                                        0.6745,   0.505875, 0.168625, 1.01175, 2.0235,  0.843125};
  const std::vector<double> z = modified_z(steps);
  ASSERT_EQ(z.size(), expected.size());
  for (size_t i = 0; i < z.size(); ++i) EXPECT_NEAR(z[i], expected[i], 1e-9) << i;
  const std::vector<double> flat = modified_z(std::vector<double>{2, 2, 2, 9});
  EXPECT_EQ(flat[0], 0);
  EXPECT_TRUE(std::isinf(flat[3]));
}

TEST(Stats, AutocorrelationAsNumPy) { EXPECT_NEAR(autocorrelation_lag1(steps), -0.09460752157154258, 1e-15); }

}  // namespace
}  // namespace erg
