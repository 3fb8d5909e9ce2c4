// Robust statistics of step times (METHOD §1): every function is pure and takes samples in the order they were measured.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace erg {

double median(std::span<const double> x);              // NaN when empty
double quantile(std::span<const double> x, double q);  // linear interpolation, NumPy's default (Hyndman-Fan 7)
double mean(std::span<const double> x);
double stddev(std::span<const double> x);  // n - 1

struct Interval {
  double low, high;
};
// 95 % interval of the median by circular block bootstrap, blocks of round(sqrt n) (Politis & Romano 1992). Deterministic.
Interval median_ci95(std::span<const double> x, int resamples = 1000, uint64_t seed = 1);
// The same for the mean: the uncertainty of a throughput, samples / time of the whole window.
Interval mean_ci95(std::span<const double> x, int resamples = 1000, uint64_t seed = 1);
// Standard error of the median, from the same bootstrap.
double median_standard_error(std::span<const double> x, int resamples = 200, uint64_t seed = 1);
// |modified z| = 0.6745 |x - median| / MAD (Iglewicz & Hoaglin 1993); 0 everywhere when MAD is 0 and x equals the median, inf elsewhere.
std::vector<double> modified_z(std::span<const double> x);
double autocorrelation_lag1(std::span<const double> x);

}  // namespace erg
