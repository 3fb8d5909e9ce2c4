// Robust statistics of step times. The bootstrap draws from core/rng.hpp's formula, so that an interval is the same on every machine.
#include "core/stats.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/rng.hpp"

namespace erg {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr uint64_t bootstrap_stream = 0x626f6f74;  // "boot"

bool has_nan(std::span<const double> x) {
  return std::any_of(x.begin(), x.end(), [](double v) { return std::isnan(v); });
}

// Reorders x. With an even count, the mean of the two middle values.
double median_in_place(std::vector<double>& x) {
  const auto middle = x.begin() + std::ptrdiff_t(x.size() / 2);
  std::nth_element(x.begin(), middle, x.end());
  if (x.size() % 2 == 1) return *middle;
  return 0.5 * (*std::max_element(x.begin(), middle) + *middle);
}

// A statistic of `resamples` series, each glued from randomly chosen blocks of x laid in a circle (Politis & Romano 1992), cut to x's
// length. Blocks keep the correlation of neighbouring steps; single draws would make the interval too narrow. In the circle every step is
// as likely as any other; without it the first and last steps are drawn too rarely, and an interval may leave out its own mean.
std::vector<double> bootstrap(std::span<const double> x, double (*statistic)(std::vector<double>&), int resamples, uint64_t seed) {
  const size_t n = x.size();
  const size_t block = std::max<size_t>(1, size_t(std::lround(std::sqrt(double(n)))));
  const size_t blocks = (n + block - 1) / block;
  std::vector<double> values(size_t(std::max(resamples, 1))), sample;
  uint64_t draw = 0;
  for (double& v : values) {
    sample.clear();
    for (size_t b = 0; b < blocks; ++b) {
      const size_t from = random_bits(seed, bootstrap_stream, draw++) % n, length = std::min(block, n - sample.size());
      for (size_t i = from; i < from + length; ++i) sample.push_back(x[i < n ? i : i - n]);
    }
    v = statistic(sample);
  }
  return values;
}

Interval ci95(std::span<const double> x, double (*statistic)(std::vector<double>&), int resamples, uint64_t seed) {
  if (x.empty() || has_nan(x)) return {nan, nan};
  const std::vector<double> values = bootstrap(x, statistic, resamples, seed);
  return {quantile(values, 0.025), quantile(values, 0.975)};
}

}  // namespace

double median(std::span<const double> x) {
  if (x.empty() || has_nan(x)) return nan;
  std::vector<double> copy(x.begin(), x.end());
  return median_in_place(copy);
}

double quantile(std::span<const double> x, double q) {
  if (x.empty() || has_nan(x) || !(q >= 0 && q <= 1)) return nan;
  std::vector<double> sorted(x.begin(), x.end());
  std::sort(sorted.begin(), sorted.end());
  const double position = q * double(sorted.size() - 1);
  const size_t below = size_t(position), above = std::min(below + 1, sorted.size() - 1);
  if (sorted[below] == sorted[above]) return sorted[below];  // also keeps inf - inf away
  return sorted[below] + (position - double(below)) * (sorted[above] - sorted[below]);
}

double mean(std::span<const double> x) { return x.empty() ? nan : std::accumulate(x.begin(), x.end(), 0.0) / double(x.size()); }

double stddev(std::span<const double> x) {
  if (x.size() < 2) return nan;
  const double m = mean(x);
  double sum = 0;
  for (double v : x) sum += (v - m) * (v - m);
  return std::sqrt(sum / double(x.size() - 1));
}

Interval median_ci95(std::span<const double> x, int resamples, uint64_t seed) { return ci95(x, median_in_place, resamples, seed); }

Interval mean_ci95(std::span<const double> x, int resamples, uint64_t seed) {
  return ci95(
      x, [](std::vector<double>& sample) { return mean(sample); }, resamples, seed);
}

double median_standard_error(std::span<const double> x, int resamples, uint64_t seed) {
  if (x.size() < 2 || has_nan(x)) return nan;
  return stddev(bootstrap(x, median_in_place, resamples, seed));
}

std::vector<double> modified_z(std::span<const double> x) {
  const double center = median(x);
  std::vector<double> z(x.size());
  std::transform(x.begin(), x.end(), z.begin(), [&](double v) { return std::abs(v - center); });
  const double mad = median(z);
  for (double& v : z) v = v == 0 ? 0 : 0.6745 * v / mad;  // a deviation over a MAD of 0 is infinite
  return z;
}

double autocorrelation_lag1(std::span<const double> x) {
  if (x.size() < 2) return nan;
  const double m = mean(x);
  double product = 0, square = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    square += (x[i] - m) * (x[i] - m);
    if (i + 1 < x.size()) product += (x[i] - m) * (x[i + 1] - m);
  }
  return square > 0 ? product / square : nan;
}

}  // namespace erg
