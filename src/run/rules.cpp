// The rules' arithmetic. Constants are METHOD §1's.
#include "run/rules.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "core/stats.hpp"

namespace erg {
namespace {

constexpr double slow_step_s = 0.5, very_slow_step_s = 2, long_step_s = 1;
constexpr double precision = 0.01;
constexpr int quick_resamples = 300;  // while measuring; the record's interval uses more
constexpr size_t noise_estimates = 64, noise_window = 512, noise_every = 16;
constexpr double noise_change = 0.05;

}  // namespace

bool warmed_up(double min_s, double elapsed_s, int64_t steps, double last_step_s) {
  return elapsed_s >= min_s && steps >= (last_step_s > slow_step_s ? 2 : 5);
}

SettleRule::SettleRule(double step_s) : block_steps_(step_s > very_slow_step_s ? 1 : step_s > slow_step_s ? 2 : 5) {}

void SettleRule::add(double step_s) {
  current_.push_back(step_s);
  if (int64_t(current_.size()) < block_steps_) return;
  const double error = median_standard_error(current_);
  blocks_.push_back({median(current_), std::isnan(error) ? 0 : error});
  current_.clear();
}

double SettleRule::spread() const {
  if (blocks_.size() < 3) return std::numeric_limits<double>::infinity();
  double m[3];
  std::transform(blocks_.end() - 3, blocks_.end(), m, [](const Block& b) { return b.median; });
  std::sort(m, m + 3);
  return (m[2] - m[0]) / m[1];
}

double SettleRule::allowed_spread() const {
  if (blocks_.size() < 3) return precision;
  double error = 0;
  for (auto b = blocks_.end() - 3; b != blocks_.end(); ++b) error += b->standard_error / b->median / 3;
  return std::max(precision, 2 * error);
}

bool SettleRule::settled() const { return spread() <= allowed_spread(); }

void StopRule::add(double step_s) {
  times_.push_back(step_s);
  const double n = double(times_.size()), from_mean = step_s - mean_;
  mean_ += from_mean / n;
  squares_ += from_mean * (step_s - mean_);
  if (n > 1) noise_.push_back(std::sqrt(squares_ / (n - 1)) / mean_);
}

int64_t StopRule::needed_steps() const { return mean_ > long_step_s ? 5 : 20; }

bool StopRule::long_enough(double elapsed_s) const { return elapsed_s >= spec_.min_time_s && int64_t(times_.size()) >= needed_steps(); }

std::string StopRule::reason(double elapsed_s, bool with_precision) {
  if (spec_.duration_s > 0) return elapsed_s >= spec_.duration_s ? "duration" : "";
  if (long_enough(elapsed_s)) {
    if (with_precision) {
      const Interval ci = median_ci95(times_, quick_resamples);
      half_width_ = (ci.high - ci.low) / 2 / median(times_);
      if (half_width_ <= precision) return "precision";
    }
    if (noise_is_stable()) return "noise_stable";
  }
  return elapsed_s >= spec_.max_time_s ? "max_time" : "";
}

bool StopRule::noise_is_stable() const {
  if (noise_.size() <= noise_estimates || noise_.size() % noise_every != 0) return false;
  const std::span<const double> last = std::span(noise_).last(std::min(noise_.size(), noise_window));
  return stddev(last) < noise_change * mean(last);
}

double StopRule::remaining_s(double elapsed_s) const {
  if (spec_.duration_s > 0) return std::max(0.0, spec_.duration_s - elapsed_s);
  const double longest = std::max(0.0, spec_.max_time_s - elapsed_s);
  if (times_.empty()) return longest;
  double left = std::max(spec_.min_time_s - elapsed_s, double(needed_steps() - int64_t(times_.size())) * mean_);
  // The interval shrinks with the root of the number of steps.
  if (std::isfinite(half_width_)) left = std::max(left, elapsed_s * (std::pow(half_width_ / precision, 2) - 1));
  return std::clamp(left, 0.0, longest);
}

}  // namespace erg
