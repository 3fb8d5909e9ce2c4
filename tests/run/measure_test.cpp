// The measuring loop on fake steps: which phase a step belongs to, how a run ends, and that nothing is lost.
#include "run/measure.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <limits>
#include <numeric>

#include "core/interrupt.hpp"
#include "fakes.hpp"

namespace erg {
namespace {

using test::FakeEngine;
using test::FakeWorkload;

class Measure : public testing::Test {
 protected:
  void TearDown() override { reset_interrupt(); }
  Window run(FakeWorkload& workload, const WindowEdges& edges = {}) {
    return measure_window(workload, engine_, spec_, clock_, progress_, edges);
  }

  FakeClock clock_;
  FakeEngine engine_;
  MeasureSpec spec_;
  Progress progress_;
};

double falling(int64_t step) { return 5.0 / double(step + 1); }

TEST_F(Measure, EvenStepsGoThroughAllPhases) {
  FakeWorkload workload(
      clock_, [](int64_t) { return 0.25; }, falling);
  const Window w = run(workload);
  EXPECT_EQ(w.warmup_steps, 8);   // 2 s
  EXPECT_EQ(w.settle_steps, 15);  // three blocks of five
  EXPECT_TRUE(w.settled);
  EXPECT_EQ(w.step_times.size(), 40u);  // 10 s
  EXPECT_DOUBLE_EQ(w.measure_s, 10);
  EXPECT_EQ(w.samples, 40 * 8);
  EXPECT_EQ(w.stopped_by, "precision");
  EXPECT_TRUE(w.flags.empty());
  EXPECT_EQ(workload.steps, 8 + 15 + 40);
}

TEST_F(Measure, OnlyTheWindowCounts) {
  FakeWorkload workload(
      clock_, [](int64_t i) { return i < 23 ? 0.26 : 0.25; }, falling);
  const Window w = run(workload);
  for (double t : w.step_times) EXPECT_DOUBLE_EQ(t, 0.25);
  EXPECT_EQ(w.losses.size(), w.step_times.size());
  EXPECT_EQ(w.data_waits.size(), w.step_times.size());
  EXPECT_EQ(int64_t(w.all_losses.size()), workload.steps);
  EXPECT_DOUBLE_EQ(w.loss_first, 5.0);
  EXPECT_DOUBLE_EQ(w.losses.back(), falling(workload.steps - 1));
}

TEST_F(Measure, StepTimesSumToTheWindow) {
  FakeWorkload workload(
      clock_, [](int64_t i) { return 0.2 + 0.001 * double(i % 7); }, falling);
  const Window w = run(workload);
  EXPECT_NEAR(std::accumulate(w.step_times.begin(), w.step_times.end(), 0.0), w.measure_s, 1e-9);
}

TEST_F(Measure, EveryStepEndsWithTheEngineFinished) {
  FakeWorkload workload(
      clock_, [](int64_t) { return 0.25; }, falling);
  run(workload);
  EXPECT_EQ(engine_.synchronized, workload.steps + 1);  // and once before the window
}

TEST_F(Measure, TheWindowsEdgesEncloseItsSteps) {
  FakeWorkload workload(
      clock_, [](int64_t) { return 0.25; }, falling);
  int64_t first = -1, last = -1;
  double from = 0, to = 0;
  const Window w = run(workload, {[&] {
                                    first = workload.steps;
                                    from = clock_.now();
                                  },
                                  [&] {
                                    last = workload.steps;
                                    to = clock_.now();
                                  }});
  EXPECT_EQ(first, 8 + 15);
  EXPECT_EQ(last, workload.steps);
  EXPECT_DOUBLE_EQ(to - from, w.measure_s);
}

TEST_F(Measure, WhatNeverSettlesIsFlaggedAndMeasured) {
  spec_.max_time_s = 20;  // settling: half of it
  FakeWorkload workload(
      clock_, [](int64_t i) { return 0.1 * (1 + 0.01 * double(i)); }, falling);
  const Window w = run(workload);
  EXPECT_FALSE(w.settled);
  EXPECT_GE(w.settle_s, 10);
  EXPECT_LT(w.settle_s, 10.5);
  ASSERT_FALSE(w.flags.empty());
  EXPECT_EQ(w.flags[0].code, "not_settled");
  EXPECT_FALSE(w.step_times.empty());
}

TEST_F(Measure, NoTimeToSettleIsFlaggedToo) {
  spec_.settle_max_s = 0;
  FakeWorkload workload(
      clock_, [](int64_t) { return 0.25; }, falling);
  const Window w = run(workload);
  EXPECT_EQ(w.settle_steps, 0);
  ASSERT_EQ(w.flags.size(), 1u);
  EXPECT_EQ(w.flags[0].code, "not_settled");
}

TEST_F(Measure, AWindowWithTooFewStepsIsShort) {
  spec_.max_time_s = 30;
  spec_.settle_max_s = 0;
  FakeWorkload workload(
      clock_, [](int64_t) { return 12.0; }, falling);
  const Window w = run(workload);
  EXPECT_EQ(w.warmup_steps, 2);
  EXPECT_EQ(w.stopped_by, "max_time");
  EXPECT_EQ(w.step_times.size(), 3u);
  EXPECT_EQ(w.flags.back().code, "window_short");
}

TEST_F(Measure, AnExactDurationIsNotShort) {
  spec_.duration_s = 2;
  FakeWorkload workload(
      clock_, [](int64_t) { return 0.25; }, falling);
  const Window w = run(workload);
  EXPECT_EQ(w.stopped_by, "duration");
  EXPECT_DOUBLE_EQ(w.measure_s, 2);
  EXPECT_TRUE(w.flags.empty());
}

TEST_F(Measure, ALossThatIsNotFiniteEndsTheRunAtOnce) {
  for (int64_t bad : {0, 10, 30}) {  // in warm-up, settling, window
    FakeWorkload workload(
        clock_, [](int64_t) { return 0.25; }, [=](int64_t i) { return i == bad ? std::numeric_limits<double>::quiet_NaN() : 1.0; });
    const Window w = run(workload);
    EXPECT_EQ(w.stopped_by, "loss_not_finite");
    EXPECT_EQ(workload.steps, bad + 1);
    EXPECT_TRUE(std::isnan(w.all_losses.back()));
  }
}

TEST_F(Measure, AnInterruptFinishesTheStep) {
  install_interrupt_handlers();
  for (int64_t at : {3, 12, 30}) {
    reset_interrupt();
    FakeWorkload workload(
        clock_,
        [=](int64_t i) {
          if (i == at) std::raise(SIGINT);
          return 0.25;
        },
        falling);
    const Window w = run(workload);
    EXPECT_EQ(w.stopped_by, "interrupted");
    EXPECT_EQ(workload.steps, at + 1);
    EXPECT_EQ(int64_t(w.step_times.size()), std::max<int64_t>(0, at + 1 - 23));
  }
}

TEST_F(Measure, ProgressNamesThePhasesInOrder) {
  std::vector<std::string> phases;
  progress_ = [&](const std::string& phase, double fraction, const std::string&) {
    EXPECT_GE(fraction, 0);
    EXPECT_LE(fraction, 1);
    if (phases.empty() || phases.back() != phase) phases.push_back(phase);
  };
  FakeWorkload workload(
      clock_, [](int64_t) { return 0.25; }, falling);
  run(workload);
  EXPECT_EQ(phases, (std::vector<std::string>{"warm-up", "settle", "measure"}));
}

}  // namespace
}  // namespace erg
