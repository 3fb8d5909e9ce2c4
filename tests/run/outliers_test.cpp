// What is named as an outlier's cause, and the readings behind it.
#include "run/outliers.hpp"

#include <gmock/gmock.h>
#include <sched.h>
#include <sys/resource.h>

#include <cmath>
#include <fstream>
#include <thread>

#include "../store/sample_records.hpp"
#include "run/step_watch.hpp"

namespace erg {
namespace {

using testing::Each;
using testing::ElementsAre;

// 20 steps of about 0.5 s, of which the eighth took 0.8 s.
struct Steps {
  std::vector<double> times, waits;
  std::vector<StepHost> host;
  Steps() : waits(20, 0.01), host(20) {
    for (int i = 0; i < 20; ++i) times.push_back(0.5 + 0.001 * (i % 5));
    times[7] = 0.802;  // the median is 0.502
  }
  std::string cause() const {
    const std::vector<Outlier> found = find_outliers(times, waits, host);
    return found.size() == 1 && found[0].step == 7 ? found[0].cause : "not one outlier";
  }
};

TEST(Outliers, AreFoundWithTheirSize) {
  const Steps s;
  const auto found = find_outliers(s.times, s.waits, s.host);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].step, 7u);
  EXPECT_NEAR(found[0].ratio, 0.802 / 0.502, 1e-12);
  EXPECT_NEAR(found[0].z, 0.6745 * 0.3 / 0.001, 1e-9);  // the MAD is 0.001
  EXPECT_EQ(found[0].cause, "unknown");
}

TEST(Outliers, CausesInTheirOrder) {
  Steps s;
  s.host[7].preemptions = 30;
  EXPECT_EQ(s.cause(), "context_switches");
  s.host[7].major_faults = 5;
  EXPECT_EQ(s.cause(), "page_faults");
  s.host[7].stolen_s = 0.151;
  EXPECT_EQ(s.cause(), "cpu_steal");
  s.host[7].throttle_events = 1;
  EXPECT_EQ(s.cause(), "throttling");
  s.waits[7] = 0.161;
  EXPECT_EQ(s.cause(), "data_wait");
}

TEST(Outliers, WhatIsUsualExplainsNothing) {
  Steps s;
  s.waits.assign(20, 0.2);
  for (StepHost& h : s.host) h.major_faults = 3, h.preemptions = 9;
  EXPECT_EQ(s.cause(), "unknown");
  s.host[7].stolen_s = 0.149;  // less than half of 0.3 s
  s.waits[7] = 0.349;
  EXPECT_EQ(s.cause(), "unknown");
}

TEST(Outliers, AFastStepNeedsNoExcuse) {
  Steps s;
  s.times[7] = 0.2;
  s.host[7].throttle_events = 1;
  EXPECT_EQ(s.cause(), "fast");
}

TEST(Outliers, WithoutReadingsTheCauseIsUnknown) {
  Steps s;
  s.waits.clear();
  s.host.clear();
  EXPECT_EQ(s.cause(), "unknown");
  EXPECT_TRUE(find_outliers({}, {}, {}).empty());
}

class Watch : public testing::Test {
 protected:
  // Steal of the first CPU that this process may use, in ticks.
  void stolen(long ticks) {
    std::filesystem::create_directories(folder_.path() / "proc");
    std::ofstream out(folder_.path() / "proc/stat");
    cpu_set_t set;
    ::sched_getaffinity(0, sizeof set, &set);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) out << "cpu" << cpu << " 1 0 1 1 0 0 0 " << std::exchange(ticks, 0) << " 0 0\n";
  }
  test::TemporaryFolder folder_;
  FakeClock clock_;
};

std::vector<double> stolen_of(const StepWatch& watch) {
  std::vector<double> values;
  for (const StepHost& h : watch.steps()) values.push_back(h.stolen_s);
  return values;
}

TEST_F(Watch, AReadingCountsForEveryStepSinceTheOneBefore) {
  const double tick = 1.0 / double(::sysconf(_SC_CLK_TCK));
  StepWatch watch(clock_, folder_.path().string());
  stolen(100);
  watch.begin();
  const auto step = [&] { clock_.advance(0.04), watch.step(); };
  step();
  step();
  EXPECT_THAT(stolen_of(watch), ElementsAre(0, 0));  // too soon to read
  stolen(107);
  step();
  EXPECT_THAT(stolen_of(watch), Each(testing::DoubleNear(7 * tick, 1e-9)));
  step();
  stolen(110);
  watch.end();
  ASSERT_EQ(watch.steps().size(), 4u);
  EXPECT_NEAR(watch.steps()[2].stolen_s, 7 * tick, 1e-9);
  EXPECT_NEAR(watch.steps()[3].stolen_s, 3 * tick, 1e-9);
  watch.begin();
  EXPECT_TRUE(watch.steps().empty());
}

// The sum over the steps is what the kernel counted meanwhile.
TEST_F(Watch, PreemptionsAndFaultsAddUp) {
  rusage before{}, after{};
  StepWatch watch(clock_, folder_.path().string());
  ::getrusage(RUSAGE_SELF, &before);
  watch.begin();
  for (int i = 0; i < 50; ++i) {
    std::this_thread::yield();
    watch.step();
  }
  ::getrusage(RUSAGE_SELF, &after);
  int64_t faults = 0, preemptions = 0;
  for (const StepHost& h : watch.steps()) {
    EXPECT_GE(h.preemptions, 0);
    faults += h.major_faults;
    preemptions += h.preemptions;
  }
  EXPECT_LE(faults, after.ru_majflt - before.ru_majflt);
  EXPECT_LE(preemptions, after.ru_nivcsw - before.ru_nivcsw);
}

}  // namespace
}  // namespace erg
