// METHOD §1's rules on step times whose outcome follows from arithmetic.
#include "run/rules.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/rng.hpp"

namespace erg {
namespace {

double noise(uint64_t i, double relative) { return 1 + relative * (2.0 * random_uniform(5, 7, i) - 1); }

TEST(WarmUp, NeedsTimeAndSteps) {
  EXPECT_FALSE(warmed_up(2, 1.9, 100, 0.019));
  EXPECT_FALSE(warmed_up(2, 2.0, 4, 0.5));
  EXPECT_TRUE(warmed_up(2, 2.0, 5, 0.4));
  EXPECT_TRUE(warmed_up(2, 2.0, 2, 1.0));
  EXPECT_FALSE(warmed_up(2, 30.0, 1, 30.0));
  EXPECT_TRUE(warmed_up(0, 0.01, 5, 0.002));
}

TEST(Settle, BlocksShrinkWithTheStepTime) {
  EXPECT_EQ(SettleRule(0.1).block_steps(), 5);
  EXPECT_EQ(SettleRule(0.5).block_steps(), 5);
  EXPECT_EQ(SettleRule(0.6).block_steps(), 2);
  EXPECT_EQ(SettleRule(2.1).block_steps(), 1);
}

int64_t steps_to_settle(SettleRule rule, double (*step_s)(int)) {
  for (int i = 0; i < 1000; ++i) {
    rule.add(step_s(i));
    if (rule.settled()) return i + 1;
  }
  return -1;
}

TEST(Settle, EvenStepsNeedThreeBlocks) {
  EXPECT_EQ(steps_to_settle(SettleRule(0.1), [](int) { return 0.1; }), 15);
  EXPECT_EQ(steps_to_settle(SettleRule(1), [](int) { return 1.0; }), 6);
  EXPECT_EQ(steps_to_settle(SettleRule(3), [](int) { return 3.0; }), 3);
}

TEST(Settle, ADriftIsSeenWhateverTheBlockSize) {
  for (double step_s : {0.1, 1.0, 3.0}) {
    SettleRule rule(step_s);
    for (int64_t i = 0; i < 3 * rule.block_steps(); ++i) rule.add(step_s * (1 + 0.02 * double(i)));  // 2 % slower with each step
    EXPECT_FALSE(rule.settled()) << step_s << ": " << rule.spread() << " of " << rule.allowed_spread();
  }
}

// Heating up: from 30 % slow to the final time with a time constant of 20 steps; within 1 % of each other over 15 steps when
// 0.3 exp(-t/20) (1 - exp(-10/20)) < 0.01, that is t > 49.4: the block that begins at 50, and three blocks are full at 65 or one later.
TEST(Settle, WaitsForAnExponentialToEnd) {
  const int64_t steps = steps_to_settle(SettleRule(0.1), [](int i) { return 0.1 * (1 + 0.3 * std::exp(-i / 20.0)); });
  EXPECT_GE(steps, 65);
  EXPECT_LE(steps, 70);
}

TEST(Settle, NoisyStepsSettleWithinTheirStandardErrors) {
  SettleRule rule(0.1);
  int steps = 0;
  while (!rule.settled() && steps < 500) rule.add(0.1 * noise(uint64_t(steps++), 0.10));
  EXPECT_LT(steps, 200);
}

TEST(Settle, OneOutlierInABlockDoesNotMatter) {
  SettleRule rule(0.1);
  for (int i = 0; i < 15; ++i) rule.add(i == 7 ? 5.0 : 0.1);
  EXPECT_DOUBLE_EQ(rule.spread(), 0);
  EXPECT_TRUE(rule.settled());
}

MeasureSpec limits(double min_s, double max_s, double duration_s = 0) {
  MeasureSpec spec;
  spec.min_time_s = min_s;
  spec.max_time_s = max_s;
  spec.duration_s = duration_s;
  return spec;
}

struct End {
  int64_t steps;
  double elapsed;
  std::string reason;
};
End run(StopRule rule, double (*step_s)(int), bool with_precision = true) {
  double elapsed = 0;
  for (int i = 0; i < 100000; ++i) {
    elapsed += step_s(i);
    rule.add(step_s(i));
    if (const std::string reason = rule.reason(elapsed, with_precision); !reason.empty()) return {i + 1, elapsed, reason};
  }
  return {-1, elapsed, "never"};
}

TEST(Stop, EvenStepsStopWhenLongEnough) {
  const End by_time = run(StopRule(limits(10, 120)), [](int) { return 0.25; });
  EXPECT_EQ(by_time.reason, "precision");
  EXPECT_EQ(by_time.steps, 40);
  const End by_steps = run(StopRule(limits(10, 120)), [](int) { return 0.75; });
  EXPECT_EQ(by_steps.steps, 20);
  const End long_steps = run(StopRule(limits(10, 120)), [](int) { return 4.0; });
  EXPECT_EQ(long_steps.steps, 5);
  EXPECT_EQ(long_steps.reason, "precision");
}

TEST(Stop, AnImpreciseMedianGoesOn) {
  // Two modes, 30 % apart and equally likely: the median's interval spans both.
  const End end = run(StopRule(limits(1, 5)), [](int i) { return random_uniform(5, 8, uint64_t(i)) < 0.5 ? 0.1 : 0.13; });
  EXPECT_EQ(end.reason, "max_time");
}

TEST(Stop, StableNoiseStops) {
  // Noise of ± 60 % leaves the interval wide, yet its size is soon known.
  const End end = run(
      StopRule(limits(1, 1e9)), [](int i) { return 0.1 * noise(uint64_t(i), 0.6); }, false);
  EXPECT_EQ(end.reason, "noise_stable");
  EXPECT_GT(end.steps, 64);
  EXPECT_LT(end.steps, 1000);
  EXPECT_EQ((end.steps - 1) % 16, 0);  // one estimate fewer than steps
}

TEST(Stop, MaxTimeAlwaysStops) {
  const End end = run(StopRule(limits(10, 120)), [](int) { return 50.0; });
  EXPECT_EQ(end.reason, "max_time");
  EXPECT_EQ(end.steps, 3);
}

TEST(Stop, DurationIsExactAndNothingElseStops) {
  const End end = run(StopRule(limits(1, 5, 100)), [](int) { return 0.5; });
  EXPECT_EQ(end.reason, "duration");
  EXPECT_EQ(end.steps, 200);
}

TEST(Stop, RemainingTimeIsAGuessWithinTheLimits) {
  StopRule rule(limits(10, 120));
  EXPECT_DOUBLE_EQ(rule.remaining_s(0), 120);
  rule.add(0.5);
  EXPECT_DOUBLE_EQ(rule.remaining_s(0.5), 9.5);
  EXPECT_DOUBLE_EQ(StopRule(limits(10, 120, 60)).remaining_s(20), 40);
}

}  // namespace
}  // namespace erg
