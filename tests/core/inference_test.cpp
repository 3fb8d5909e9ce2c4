// Tests and intervals against SciPy 1.17 and NumPy 2.4, written in as constants, and against simulations whose truth is known.
#include "core/inference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "core/rng.hpp"

namespace erg {
namespace {

using Values = std::vector<double>;

// Normal with deviation 1 and correlation rho between neighbours (Box and Muller; 50 values of run-in).
Values ar1(size_t n, double rho, uint64_t stream) {
  Values x;
  double value = 0;
  for (size_t i = 0; i < n + 50; ++i) {
    const double u = 1 - double(random_uniform(7, stream, 2 * i)), v = random_uniform(7, stream, 2 * i + 1);
    value = rho * value + std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * v);
    if (i >= 50) x.push_back(value);
  }
  return x;
}

// scipy.stats.mannwhitneyu(a, b, method="exact" or "asymptotic")
TEST(MannWhitney, AsScipy) {
  RankTest t = mann_whitney(Values{105.2, 104.8, 106.1}, Values{101.0, 102.2, 101.7, 100.9});
  EXPECT_TRUE(t.exact);
  EXPECT_EQ(t.u, 12);
  EXPECT_NEAR(t.p, 0.05714285714285714, 1e-14);

  const Values a = {10.1, 10.4, 9.9, 10.2, 10.0, 10.3, 10.6, 9.8, 10.5};
  const Values b = {10.15, 10.45, 10.05, 10.7, 10.8, 10.9, 10.35, 11.0, 10.65};
  t = mann_whitney(a, b);
  EXPECT_TRUE(t.exact);
  EXPECT_EQ(t.u, 16);
  EXPECT_NEAR(t.p, 0.03146853146853147, 1e-14);
  EXPECT_NEAR(mann_whitney(b, a).p, t.p, 1e-15);

  t = mann_whitney(Values{1, 2, 2, 3, 5, 5, 7, 8, 9}, Values{2, 4, 5, 6, 6, 8, 9, 9, 10, 11});
  EXPECT_FALSE(t.exact);
  EXPECT_EQ(t.u, 24.5);
  EXPECT_NEAR(t.p, 0.1003594266389544, 1e-13);

  Values large_a(25), large_b(30);
  for (size_t i = 0; i < 25; ++i) large_a[i] = 0.1 * double(i);
  for (size_t i = 0; i < 30; ++i) large_b[i] = 0.1 * double(i) + 0.553;
  t = mann_whitney(large_a, large_b);
  EXPECT_FALSE(t.exact);
  EXPECT_EQ(t.u, 190);
  EXPECT_NEAR(t.p, 0.001817006281075084, 1e-14);
}

// Three against three can't be told apart at 5 %: the smallest p there is is 2 / C(6, 3) = 0.1.
TEST(MannWhitney, Edges) {
  EXPECT_NEAR(mann_whitney(Values{1, 2, 3}, Values{4, 5, 6}).p, 0.1, 1e-15);
  EXPECT_EQ(mann_whitney(Values{1, 1, 1}, Values{1, 1, 1}).p, 1);
  EXPECT_EQ(mann_whitney(Values{1}, Values{2}).p, 1);
  EXPECT_TRUE(std::isnan(mann_whitney(Values{}, Values{1}).p));
  EXPECT_TRUE(std::isnan(mann_whitney(Values{NAN}, Values{1}).p));
  Values a(20), b(20);
  std::iota(a.begin(), a.end(), 0);
  std::iota(b.begin(), b.end(), 20);
  EXPECT_NEAR(mann_whitney(a, b).p * 137846528820.0 / 2, 1, 1e-9);  // 2 / C(40, 20)
}

// scipy.stats.t.ppf(q, df)
TEST(Student, QuantilesAsScipy) {
  EXPECT_NEAR(student_quantile(0.975, 1), 12.706204736174694, 1e-9);
  EXPECT_NEAR(student_quantile(0.975, 2), 4.302652729749462, 1e-10);
  EXPECT_NEAR(student_quantile(0.975, 2.5), 3.5746548420036817, 1e-10);
  EXPECT_NEAR(student_quantile(0.975, 4), 2.7764451051977934, 1e-10);
  EXPECT_NEAR(student_quantile(0.975, 9.7), 2.237515123700105, 1e-10);
  EXPECT_NEAR(student_quantile(0.025, 30), -2.0422724563012378, 1e-10);
  EXPECT_NEAR(student_quantile(0.95, 3), 2.3533634348018233, 1e-10);
  EXPECT_NEAR(student_quantile(0.975, 1000), 1.9623390808264083, 1e-10);
  EXPECT_NEAR(student_quantile(0.5, 3), 0, 1e-15);
  EXPECT_TRUE(std::isnan(student_quantile(1, 3)));
  EXPECT_TRUE(std::isnan(student_quantile(0.9, 0)));
}

// scipy.stats.t.interval(0.95, 2, mean, sem); exp of ttest_ind(log b, log a, equal_var=False).confidence_interval(0.95)
TEST(Student, IntervalsAsScipy) {
  const Values a = {105.2, 104.8, 106.1}, b = {101.0, 102.2, 101.7, 100.9};
  EXPECT_NEAR(student_ci95(a).low, 103.71264626903445, 1e-9);
  EXPECT_NEAR(student_ci95(a).high, 107.0206870642989, 1e-9);
  EXPECT_NEAR(ratio_ci95(a, b).low, 0.9506218947249518, 1e-12);
  EXPECT_NEAR(ratio_ci95(a, b).high, 0.9751904599797202, 1e-12);
  EXPECT_DOUBLE_EQ(ratio_ci95(Values{2, 2}, Values{3, 3}).high, 1.5);
  EXPECT_TRUE(std::isnan(student_ci95(Values{1}).low));
  EXPECT_TRUE(std::isnan(ratio_ci95(Values{1}, b).low));
  EXPECT_TRUE(std::isnan(ratio_ci95(Values{1, 0}, b).low));
}

// scipy.stats.theilslopes(x), and Mann-Kendall written again in NumPy:
//   s = sum(sign(x[j] - x[i])); v = (n(n-1)(2n+5) - sum(t(t-1)(2t+5))) / 18; d = x - slope * arange(n)
//   r = lag-1 of d; r = min(.95, r + (2 + 4r) / n); f = 1 + 2(r**(n+1) - n r² + (n-1) r) / (n (r-1)²) if r > 0 else 1
//   p = 2 * norm.sf((|s| - 1) / sqrt(v f))
TEST(Trend, AsNumPy) {
  const Trend rise = trend_of(Values{0.500, 0.503, 0.501, 0.506, 0.504, 0.509, 0.507, 0.507, 0.512, 0.510, 0.514, 0.513, 0.518, 0.515});
  EXPECT_NEAR(rise.slope, 0.0012222222222222233, 1e-15);
  EXPECT_NEAR(rise.slope95.low, 0.001, 1e-15);
  EXPECT_NEAR(rise.slope95.high, 0.0015, 1e-15);
  EXPECT_NEAR(rise.p, 3.9218975958979115e-05, 1e-14);
  // A wave looks like a trend only to those who take its steps for independent.
  const Trend wave =
      trend_of(Values{0.500, 0.502, 0.504, 0.505, 0.504, 0.502, 0.500, 0.499, 0.501, 0.503, 0.506, 0.508, 0.507, 0.505, 0.504, 0.506});
  EXPECT_NEAR(wave.slope, 0.0003166666666666669, 1e-15);
  EXPECT_NEAR(wave.p, 0.5884503143360931, 1e-9);
}

TEST(Trend, AnOutlierIsNoTrendAndLongSeriesAreThinned) {
  Values x = ar1(5000, 0, 1);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 100 + 0.01 * x[i] + 1e-4 * double(i);
  x[4990] = 1e6;
  const Trend t = trend_of(x);
  EXPECT_NEAR(t.slope, 1e-4, 1e-6);
  EXPECT_LT(t.slope95.low, 1e-4);
  EXPECT_GT(t.slope95.high, 1e-4);
  EXPECT_LT(t.p, 1e-10);
}

TEST(Trend, Edges) {
  EXPECT_TRUE(std::isnan(trend_of(Values(9, 1.0)).p));
  EXPECT_EQ(trend_of(Values(10, 1.0)).p, 1);
  EXPECT_EQ(trend_of(Values(10, 1.0)).slope, 0);
  Values x(20, 1.0);
  x[3] = NAN;
  EXPECT_TRUE(std::isnan(trend_of(x).slope));
}

// Without a trend, p < 0.01 must be about that rare, also where neighbours resemble each other.
TEST(Trend, FalseAlarmsAreRare) {
  for (const double rho : {0.0, 0.3, 0.6}) {
    int alarms = 0;
    for (uint64_t i = 0; i < 300; ++i) alarms += trend_of(ar1(60, rho, i)).p < 0.01;
    EXPECT_LE(alarms, 12) << rho;
  }
}

// An interval that took the steps of an AR(1) series for independent would cover 2 Phi(1.96 sqrt((1 - rho) / (1 + rho))) - 1 = 74 % at
// rho = 0.5. Blocks of l = 20 must bring it near 95 %: their variance falls short of sigma² / (1 - rho)² = 4 by 2 rho / (1 - rho)² / (1 -
// rho²) / l = 0.27 (Künsch 1989) and by l / n = 5 %, so that the interval is 0.94 of the true width.
TEST(BlockBootstrap, CoversTheMeanOfAnAutoregressiveSeries) {
  constexpr int series = 300;
  int covered = 0;
  double width = 0;
  for (int i = 0; i < series; ++i) {
    const Interval ci = mean_ci95(ar1(400, 0.5, uint64_t(i)), 200);
    covered += ci.low <= 0 && 0 <= ci.high;
    width += (ci.high - ci.low) / series;
  }
  EXPECT_GE(covered, 0.86 * series);
  EXPECT_LT(covered, series);
  const double true_error = 1 / (1 - 0.5) / std::sqrt(400.0);  // sigma / (1 - rho) / sqrt n
  EXPECT_NEAR(width / (2 * 1.96 * true_error), 0.94, 0.05);
}

}  // namespace
}  // namespace erg
