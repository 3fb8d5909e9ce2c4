// Whether two sets of runs differ, and whether a series drifts: the tests behind `compare` and the flag `drift`.
// Every function is pure; NaN in or too few values in gives NaN out.
#pragma once
#include <span>

#include "core/stats.hpp"

namespace erg {

struct RankTest {
  double u;    // pairs (a, b) with a > b, ties counted half
  double p;    // two-sided
  bool exact;  // from the distribution itself; else normal, corrected for ties and continuity
};
// Mann and Whitney's U (1947): exact without ties and up to 20 values a side, as scipy.stats.mannwhitneyu with its two methods.
RankTest mann_whitney(std::span<const double> a, std::span<const double> b);

// Quantile of Student's t, 0 < q < 1, df > 0; df need not be whole (Welch 1947).
double student_quantile(double q, double df);

// 95 % interval of the mean of independent values by Student's t; NaN below two values.
Interval student_ci95(std::span<const double> x);

// 95 % interval of the ratio b / a of two centers of positive values: Welch's interval of the difference of their mean logarithms,
// so that factors, not differences, are what spreads. NaN below two values a side.
Interval ratio_ci95(std::span<const double> a, std::span<const double> b);

struct Trend {
  double slope;      // per step: median of the slopes of all pairs (Theil 1950, Sen 1968)
  Interval slope95;  // Sen 1968
  double p;          // two-sided, of no trend (Mann 1945, Kendall 1975)
};
// Neighbouring steps that resemble each other would make every series look like a trend: the variance of Kendall's S is multiplied by
// Matalas and Langbein's factor for a first-order process (Yue & Wang 2004), of the detrended series' correlation corrected for its bias
// (2 + 4r) / n (van Giersbergen 2005). Series above 500 steps are first cut into 500 blocks at most, of which the medians count.
// NaN below 10 steps, where the normal approximation fails.
Trend trend_of(std::span<const double> x);

}  // namespace erg
