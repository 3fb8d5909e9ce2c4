// Where a step's time goes, on a clock that only the workload moves.
#include "run/profile.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "fakes.hpp"

namespace erg::test {
namespace {

// Two blocks of a product with an activation and an undivided attention, then an optimizer, each of known length; between them nobody says
// what is done. Step number `slow` takes 10 s more in its optimizer.
class SpanWorkload final : public FakeWorkload {
 public:
  SpanWorkload(Engine& engine, FakeClock& clock, int64_t slow = -1)
      : FakeWorkload(
            clock, [](int64_t) { return 0; }, [](int64_t) { return 1; }),
        engine_(engine),
        clock_(clock),
        slow_(slow) {}

  StepResult step() override {
    for (const char* site : {"h.0.qkv", "h.1.qkv"}) {
      const Span op(engine_.trace(), {"linear forward", 1e9, 1e9}, site);
      piece({"GEMM forward", 8e9, 1e9}, 2);
      piece({"activation forward", 0, 3e9}, 1);
      clock_.advance(0.25);
    }
    {
      const Span op(engine_.trace(), {"attention forward", 6e9, 2e9}, "h.1.attention");
      clock_.advance(3);
    }
    piece({"optimizer", 0, 4e9}, steps == slow_ ? 14 : 4);
    clock_.advance(0.5);
    ++steps;
    return {8, 0};
  }

 private:
  void piece(const Work& work, double time_s) {
    const Span span(engine_.trace(), work);
    clock_.advance(time_s);
  }
  Engine& engine_;
  FakeClock& clock_;
  int64_t slow_;
};

const ProfileRow& row(const Profile& p, const std::string& work) {
  for (const ProfileRow& r : p.rows)
    if (r.work == work) return r;
  throw Error(ErrorKind::failed, "no row " + work);
}

TEST(Profile, RowsSumToTheStepAndWhatNobodyNamesIsOther) {
  FakeClock clock;
  FakeEngine engine;
  SpanWorkload workload(engine, clock);
  const Profile p = profile_steps(workload, engine, clock, {3, 50, 0});
  EXPECT_EQ(p.step_times.size(), 3u);
  EXPECT_DOUBLE_EQ(p.step_time_s(), 2 * 3.25 + 3 + 4 + 0.5);
  double sum = 0;
  for (const ProfileRow& r : p.rows) sum += r.time_s;
  EXPECT_DOUBLE_EQ(sum, p.step_time_s());
  EXPECT_EQ(p.rows.back().work, "other");
  EXPECT_DOUBLE_EQ(p.rows.back().time_s, 2 * 0.25 + 0.5);
  EXPECT_EQ(row(p, "GEMM forward").site, "qkv");  // of both blocks
  EXPECT_EQ(row(p, "GEMM forward").calls, 2);
  EXPECT_DOUBLE_EQ(row(p, "GEMM forward").time_s, 4);
  EXPECT_DOUBLE_EQ(row(p, "GEMM forward").flops, 16e9);
  EXPECT_EQ(row(p, "activation forward").site, "");
  EXPECT_DOUBLE_EQ(row(p, "attention forward").time_s, 3);
  EXPECT_EQ(p.rows.front().time_s, 4);  // the longest first
  EXPECT_EQ(engine.trace(), nullptr);   // nothing is recorded afterwards
  EXPECT_GT(engine.synchronized, 0);
}

TEST(Profile, IsOfTheMedianStep) {
  FakeClock clock;
  FakeEngine engine;
  SpanWorkload workload(engine, clock, 1);
  const Profile p = profile_steps(workload, engine, clock, {3, 50, 0});
  EXPECT_DOUBLE_EQ(p.step_times[1] - p.step_times[0], 10);
  EXPECT_DOUBLE_EQ(p.step_time_s(), p.step_times[0]);
  EXPECT_DOUBLE_EQ(row(p, "optimizer").time_s, 4);
}

TEST(Profile, TakesAsManyStepsAsTheTimeAsksFor) {
  FakeClock clock;
  FakeEngine engine;
  SpanWorkload workload(engine, clock);
  EXPECT_EQ(profile_steps(workload, engine, clock, {3, 50, 60}).step_times.size(), 5u);  // of 14 s
  EXPECT_EQ(profile_steps(workload, engine, clock, {3, 4, 1e6}).step_times.size(), 4u);
}

TEST(Profile, HoldsEachRowAgainstThePeaks) {
  FakeClock clock;
  FakeEngine engine;
  SpanWorkload workload(engine, clock);
  const Profile p = profile_steps(workload, engine, clock, {1, 1, 0});
  ProbePeak peak;
  peak.flops = 8e9, peak.bytes_per_s = 4e9;
  const Json j = profile_json(p, peak, 13.5);
  double shares = 0, limit = 0;
  for (const Json& r : j.at("rows")) {
    shares += r.at("share").get<double>();
    if (r.at("limit_s").is_number()) limit += r.at("limit_s").get<double>();
    if (r.at("work") == "GEMM forward") {
      EXPECT_DOUBLE_EQ(r.at("flops_per_s"), 4e9);
      EXPECT_DOUBLE_EQ(r.at("bytes_per_s"), 0.5e9);
      EXPECT_DOUBLE_EQ(r.at("limit_s"), 2);  // 16e9 / 8e9, more than 2e9 / 4e9
    }
    if (r.at("work") == "optimizer") {
      EXPECT_TRUE(r.at("flops_per_s").is_null());
      EXPECT_DOUBLE_EQ(r.at("limit_s"), 1);
    }
    if (r.at("work") == "other") { EXPECT_TRUE(r.at("limit_s").is_null()); }
  }
  EXPECT_NEAR(shares, 1, 1e-12);
  EXPECT_DOUBLE_EQ(j.at("limit_s"), limit);

  ProbePeak none;
  none.reason = "not probed";
  const Json without = profile_json(p, none, 13.5);
  EXPECT_TRUE(without.at("limit_s").is_null());
  EXPECT_EQ(without.at("no_peak"), "not probed");
}

TEST(Profile, TraceEventsLieInsideEachOther) {
  FakeClock clock;
  FakeEngine engine;
  SpanWorkload workload(engine, clock);
  const Json trace = chrome_trace(profile_steps(workload, engine, clock, {1, 1, 0}), "a run");
  const Json& events = trace.at("traceEvents");
  ASSERT_EQ(events.size(), 1u + 1 + 2 * 3 + 1 + 1);
  EXPECT_EQ(events[0].at("args").at("name"), "a run");
  EXPECT_EQ(events[1].at("name"), "step");
  EXPECT_DOUBLE_EQ(events[1].at("dur"), 14e6);
  EXPECT_EQ(events[2].at("name"), "h.0.qkv");
  EXPECT_EQ(events[3].at("name"), "GEMM forward");
  EXPECT_EQ(events[3].at("args").at("op"), "h.0.qkv");
  EXPECT_DOUBLE_EQ(events[3].at("args").at("GFLOP/s"), 4);
  for (const Json& e : events) {
    if (e.at("ph") != "X") continue;
    EXPECT_GE(e.at("ts").get<double>(), 0);
    EXPECT_LE(e.at("ts").get<double>() + e.at("dur").get<double>(), 14e6);
  }
}

}  // namespace
}  // namespace erg::test
