// Rank tests, Student's t and the robust trend.
#include "core/inference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace erg {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double normal_975 = 1.959963984540054;
constexpr size_t exact_up_to = 20, trend_points = 500, trend_fewest = 10;

bool has_nan(std::span<const double> x) {
  return std::any_of(x.begin(), x.end(), [](double v) { return std::isnan(v); });
}

double two_sided(double z) { return std::min(1.0, std::erfc(std::abs(z) / std::sqrt(2.0))); }

// Calls visit(t) for the size of every group of equal values.
template <class Visit>
void for_each_tie(std::vector<double> x, const Visit& visit) {
  std::sort(x.begin(), x.end());
  for (size_t i = 0, end; i < x.size(); i = end) {
    end = size_t(std::upper_bound(x.begin() + std::ptrdiff_t(i), x.end(), x[i]) - x.begin());
    visit(double(end - i));
  }
}

// P(U >= u) under no difference. ways[k] counts the orders in which k pairs are inverted, by the recursion over the larger values.
double exact_tail(size_t m, size_t n, double u) {
  std::vector<double> ways(m * n + 1, 0);
  ways[0] = 1;
  // The Gaussian binomial coefficient: products of (1 - q^(n+i)) / (1 - q^i).
  for (size_t i = 1; i <= m; ++i) {
    for (size_t k = m * n; k >= n + i; --k) ways[k] -= ways[k - n - i];
    for (size_t k = i; k <= m * n; ++k) ways[k] += ways[k - i];
  }
  const double all = std::accumulate(ways.begin(), ways.end(), 0.0);
  return std::accumulate(ways.begin() + std::ptrdiff_t(std::ceil(u)), ways.end(), 0.0) / all;
}

// The continued fraction of the incomplete beta function (Press et al., Numerical Recipes, 6.4), by Lentz's method.
double beta_fraction(double a, double b, double x) {
  constexpr double tiny = 1e-300;
  const auto keep_off_zero = [](double v) { return std::abs(v) < tiny ? tiny : v; };
  double c = 1, d = 1 / keep_off_zero(1 - (a + b) * x / (a + 1)), h = d;
  for (int m = 1; m <= 1000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / keep_off_zero(1 + even * d);
    c = keep_off_zero(1 + even / c);
    h *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / keep_off_zero(1 + odd * d);
    c = keep_off_zero(1 + odd / c);
    h *= d * c;
    if (std::abs(d * c - 1) < 1e-15) break;
  }
  return h;
}

double incomplete_beta(double a, double b, double x) {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

// P(T > t), t >= 0 (Abramowitz & Stegun 26.7.1).
double student_tail(double t, double df) { return 0.5 * incomplete_beta(df / 2, 0.5, df / (df + t * t)); }

std::vector<double> logarithms(std::span<const double> x) {
  std::vector<double> logs(x.size());
  std::transform(x.begin(), x.end(), logs.begin(), [](double v) { return v > 0 ? std::log(v) : nan; });
  return logs;
}

// At most trend_points medians of neighbouring steps.
std::vector<double> thinned(std::span<const double> x) {
  const size_t block = (x.size() + trend_points - 1) / trend_points;
  std::vector<double> points;
  for (size_t i = 0; i + block <= x.size(); i += block) points.push_back(median(x.subspan(i, block)));
  return points;
}

// How much a first-order process of correlation r inflates the variance of S over n values (Yue & Wang 2004, equation 5).
double inflation(double r, double n) {
  if (r <= 0) return 1;
  return 1 + 2 * (std::pow(r, n + 1) - n * r * r + (n - 1) * r) / (n * (r - 1) * (r - 1));
}

}  // namespace

RankTest mann_whitney(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty() || has_nan(a) || has_nan(b)) return {nan, nan, false};
  double u = 0;
  for (const double x : a)
    for (const double y : b) u += x > y ? 1 : x == y ? 0.5 : 0;
  const double m = double(a.size()), n = double(b.size()), all = m + n;
  const double larger = std::max(u, m * n - u);
  double tied = 0;
  std::vector<double> together(a.begin(), a.end());
  together.insert(together.end(), b.begin(), b.end());
  for_each_tie(together, [&](double t) { tied += t * t * t - t; });
  if (tied == 0 && a.size() <= exact_up_to && b.size() <= exact_up_to)
    return {u, std::min(1.0, 2 * exact_tail(a.size(), b.size(), larger)), true};
  const double variance = m * n / 12 * (all + 1 - tied / (all * (all - 1)));
  if (variance <= 0) return {u, 1, false};  // all values are the same
  return {u, two_sided(std::max(0.0, larger - m * n / 2 - 0.5) / std::sqrt(variance)), false};
}

double student_quantile(double q, double df) {
  if (!(q > 0 && q < 1 && df > 0)) return nan;
  if (q < 0.5) return -student_quantile(1 - q, df);
  double low = 0, high = 1;
  while (student_tail(high, df) > 1 - q && high < 1e300) high *= 2;
  for (int i = 0; i < 200 && high - low > 1e-14 * high; ++i) {
    const double middle = 0.5 * (low + high);
    (student_tail(middle, df) > 1 - q ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

Interval student_ci95(std::span<const double> x) {
  if (x.size() < 2 || has_nan(x)) return {nan, nan};
  const double center = mean(x), half = student_quantile(0.975, double(x.size() - 1)) * stddev(x) / std::sqrt(double(x.size()));
  return {center - half, center + half};
}

Interval ratio_ci95(std::span<const double> a, std::span<const double> b) {
  const std::vector<double> x = logarithms(a), y = logarithms(b);
  if (x.size() < 2 || y.size() < 2 || has_nan(x) || has_nan(y)) return {nan, nan};
  const double n = double(x.size()), m = double(y.size()), vx = std::pow(stddev(x), 2) / n, vy = std::pow(stddev(y), 2) / m;
  const double difference = mean(y) - mean(x), variance = vx + vy;
  const double df = variance > 0 ? variance * variance / (vx * vx / (n - 1) + vy * vy / (m - 1)) : n + m - 2;
  const double half = student_quantile(0.975, df) * std::sqrt(variance);
  return {std::exp(difference - half), std::exp(difference + half)};
}

Trend trend_of(std::span<const double> x) {
  if (x.size() < trend_fewest || has_nan(x)) return {nan, {nan, nan}, nan};
  const std::vector<double> y = thinned(x);
  const double n = double(y.size()), spacing = double((x.size() + trend_points - 1) / trend_points);
  std::vector<double> slopes;
  slopes.reserve(y.size() * (y.size() - 1) / 2);
  double s = 0;
  for (size_t i = 0; i < y.size(); ++i)
    for (size_t j = i + 1; j < y.size(); ++j) {
      slopes.push_back((y[j] - y[i]) / double(j - i));
      s += y[j] > y[i] ? 1 : y[j] < y[i] ? -1 : 0;
    }
  std::sort(slopes.begin(), slopes.end());
  const double slope = median(slopes);

  std::vector<double> rest(y.size());
  for (size_t i = 0; i < y.size(); ++i) rest[i] = y[i] - slope * double(i);
  double r = autocorrelation_lag1(rest);
  r = std::isnan(r) ? 0 : std::min(0.95, r + (2 + 4 * r) / n);
  double variance = n * (n - 1) * (2 * n + 5);
  for_each_tie(y, [&](double t) { variance -= t * (t - 1) * (2 * t + 5); });
  const double deviation = std::sqrt(std::max(0.0, variance / 18 * inflation(r, n)));

  const double pairs = double(slopes.size()), half = normal_975 * deviation, last = pairs - 1;
  const auto ranked = [&](double rank) { return slopes[size_t(std::clamp(rank, 0.0, last))] / spacing; };
  const double p = deviation > 0 ? two_sided(std::max(0.0, std::abs(s) - 1) / deviation) : 1;
  return {slope / spacing, {ranked(std::nearbyint((pairs - half) / 2)), ranked(std::nearbyint((pairs + half) / 2) - 1)}, p};
}

}  // namespace erg
