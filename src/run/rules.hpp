// When warm-up, settling and the measured window may end (METHOD §1): pure rules over step times, without a clock of their own.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "spec/spec.hpp"

namespace erg {

// At least 2 s (warmup_min_s) and 5 steps, 2 where a step exceeds 0.5 s.
bool warmed_up(double min_s, double elapsed_s, int64_t steps, double last_step_s);

// Three successive block medians agree within max(1 %, 2 standard errors of a block's median). Blocks have 5 steps, 2 above 0.5 s a
// step, 1 above 2 s. With one step a block there is no standard error, and 1 % stands alone.
class SettleRule {
 public:
  explicit SettleRule(double step_s);
  void add(double step_s);
  bool settled() const;
  int64_t block_steps() const { return block_steps_; }
  double spread() const;  // (largest - smallest) / middle of the last three block medians; inf before there are three
  double allowed_spread() const;

 private:
  struct Block {
    double median, standard_error;
  };
  int64_t block_steps_;
  std::vector<double> current_;
  std::vector<Block> blocks_;
};

// Ends the window when it is long enough (20 steps, 5 above 1 s a step, and min_time_s) and
//   "precision"     the 95 % interval of the median is within ± 1 %, or
//   "noise_stable"  the noise, stdev / mean of all steps so far, no longer changes: more than 64 estimates of it, the last 512 at most of
//                   which have a relative stdev below 5 %, looked at every 16 steps (nvbench's stdrel criterion);
// and anyway at "max_time". With duration_s > 0 only "duration" ends it. A step is never cut: the window ends with the step that
// reaches the time.
class StopRule {
 public:
  explicit StopRule(const MeasureSpec& spec) : spec_(spec) {}
  void add(double step_s);
  // Why the window, now elapsed_s long, ends here; "" when it goes on. The bootstrap's cost grows with the number of steps:
  // with_precision = false leaves it out this time.
  std::string reason(double elapsed_s, bool with_precision = true);
  bool long_enough(double elapsed_s) const;
  int64_t needed_steps() const;
  double half_width() const { return half_width_; }  // of the 95 % interval / median, when last computed; inf before
  double remaining_s(double elapsed_s) const;        // a guess for the status line

 private:
  bool noise_is_stable() const;

  MeasureSpec spec_;
  std::vector<double> times_, noise_;
  double mean_ = 0, squares_ = 0;  // Welford's running mean and sum of squared deviations
  double half_width_ = 1.0 / 0.0;
};

}  // namespace erg
