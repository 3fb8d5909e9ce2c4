// What counts as hanging, phase by phase, and that the thread acts once, or never.
#include "core/watchdog.hpp"

#include <gmock/gmock.h>

#include <atomic>

#include "core/clock.hpp"

namespace erg {
namespace {

using testing::HasSubstr;

HangLimits limits(double min_s, int64_t validation_steps = 0) {
  return {.min_s = min_s, .whole_s = 0, .validation_steps = validation_steps};
}

TEST(HangRule, FastStepsHaveTheFloorAndSlowOnesTenMedians) {
  HangRule fast(limits(60)), slow(limits(60));
  for (int i = 0; i < 20; ++i) {
    fast.beat("measure", i * 0.1);
    slow.beat("measure", i * 20.0);
  }
  EXPECT_DOUBLE_EQ(fast.limit_s(), 60);
  EXPECT_DOUBLE_EQ(slow.limit_s(), 200);
  EXPECT_EQ(fast.verdict(1.9 + 60), "");
  EXPECT_THAT(fast.verdict(1.9 + 60.5),
              testing::AllOf(HasSubstr("no step for "), HasSubstr("phase measure"), HasSubstr("hang_min_s = 60")));
}

TEST(HangRule, OneSlowStepDoesNotMoveTheMedian) {
  HangRule rule(limits(1));
  double now = 0;
  for (double step : {1.0, 1.0, 1.0, 500.0, 1.0}) rule.beat("settle", now += step);
  EXPECT_DOUBLE_EQ(rule.limit_s(), 10);
}

TEST(HangRule, PhasesWithoutStepsAndTheFirstStepMayTakeThirtyFloors) {
  HangRule rule(limits(60));
  for (const char* phase : {"init", "check", "warm-up"}) {
    rule.beat(phase, 5);
    EXPECT_DOUBLE_EQ(rule.limit_s(), 1800) << phase;
  }
  EXPECT_EQ(rule.verdict(1804), "");
  EXPECT_NE(rule.verdict(1806), "");
}

TEST(HangRule, LongValidationHasTenTimesItsSteps) {
  HangRule rule(limits(60, 1000));
  for (int i = 0; i < 9; ++i) rule.beat("measure", i * 3.0);
  rule.beat("validate", 24);
  EXPECT_DOUBLE_EQ(rule.limit_s(), 30'000);
}

TEST(HangRule, PatienceIsAFactor) {
  HangRule rule({.min_s = 60, .whole_s = 0, .validation_steps = 0, .patience = 1.5});
  rule.beat("init", 0);
  EXPECT_DOUBLE_EQ(rule.limit_s(), 2700);
  rule.beat("warm-up", 1);
  rule.beat("warm-up", 2);
  EXPECT_DOUBLE_EQ(rule.limit_s(), 90);
}

TEST(HangRule, TheWholeRunMayHaveALimit) {
  HangRule rule({.min_s = 60, .whole_s = 100, .validation_steps = 0, .patience = 1});
  for (int i = 0; i <= 10; ++i) rule.beat("measure", 1000 + 10.0 * i);
  EXPECT_EQ(rule.verdict(1100), "");
  EXPECT_THAT(rule.verdict(1101), HasSubstr("limit_s = 100"));
}

// The thread, with limits of milliseconds. Nothing here depends on how fast anything is, only on what follows what.
TEST(Watchdog, ActsOnceWhenTheBeatsEnd) {
  std::atomic<int> hangs = 0;
  Watchdog dog(HangRule(limits(0.02)), {[&](const std::string&) { ++hangs; }, {}, {}}, 0.005);
  dog.beat("measure");
  dog.beat("measure");
  while (hangs == 0) std::this_thread::yield();
  dog.stop();
  EXPECT_EQ(hangs, 1);
}

TEST(Watchdog, BeatsFromAnotherThreadKeepItQuiet) {
  std::atomic<int> hangs = 0;
  Watchdog dog(HangRule(limits(1000)), {[&](const std::string&) { ++hangs; }, {}, {}}, 0.001);
  std::jthread worker([&] {
    for (int i = 0; i < 200; ++i) {
      dog.beat("measure");
      steady_clock().sleep(0.0005);
    }
  });
  worker.join();
  dog.stop();
  EXPECT_EQ(hangs, 0);
}

TEST(Watchdog, NoticesThatItsParentIsGone) {
  std::atomic<bool> orphaned = false, ended = false;
  Watchdog dog(HangRule(limits(1000)), {[](const std::string&) {}, [&] { return orphaned.load(); }, [&] { ended = true; }}, 0.001);
  dog.beat("init");
  EXPECT_FALSE(ended);
  orphaned = true;
  while (!ended) std::this_thread::yield();
}

}  // namespace
}  // namespace erg
