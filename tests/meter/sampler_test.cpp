// The background thread: it reads files that change under it, notices every wrap, and survives sensors that go away.
#include "meter/sampler.hpp"

#include <atomic>

#include "core/clock.hpp"
#include "meter/fake_meter.hpp"
#include "sysfs_tree.hpp"

namespace erg {
namespace {

class SamplerTest : public test::SysfsTree {};

TEST_F(SamplerTest, SeesACounterWrapUnderAWritingThread) {
  // 0.3 J a write, 3 J below the wrap at 5000 J.
  const int64_t step = 300'000, range = 5'000'000'000;
  zone("0", "package-0", std::to_string(range - 3'000'000), std::to_string(range));
  std::atomic<int64_t> joules_written{0};
  std::jthread writer([&](const std::stop_token& stop) {
    for (int64_t total = range - 3'000'000; !stop.stop_requested(); total += step) {
      write("class/powercap/intel-rapl:0/energy_uj", std::to_string(total % range));
      joules_written += step;
      steady_clock().sleep(0.001);
    }
  });
  Sampler sampler(open_meters({"rapl"}, root()).meters);
  ASSERT_FALSE(sampler.empty());
  sampler.start(0.002);
  while (sampler.traces()[0].readings.size() < 3) steady_clock().sleep(0.001);
  sampler.sample();
  const double begin = steady_clock().now();
  const int64_t before = joules_written;
  while (joules_written < before + 12'000'000) steady_clock().sleep(0.001);  // past the wrap
  const double end = steady_clock().now();
  const int64_t after = joules_written;
  sampler.sample();
  sampler.stop();
  const MeterTrace trace = sampler.traces()[0];
  const DomainEnergy e = energy_of(trace, begin, end);
  ASSERT_TRUE(e.energy_j) << e.reason;
  EXPECT_NEAR(*e.energy_j, 1e-6 * double(after - before), 1.5);  // a few writes at either edge
  EXPECT_EQ(trace.missing, 0);
}

TEST_F(SamplerTest, ASensorThatGoesAwayIsMissingAndMayComeBack) {
  zone("0", "package-0", "1000000");
  Sampler sampler(open_meters({"rapl"}, root()).meters);
  sampler.sample();
  remove("class/powercap/intel-rapl:0/energy_uj");
  sampler.sample();
  write("class/powercap/intel-rapl:0/energy_uj", "garbage");
  sampler.sample();
  write("class/powercap/intel-rapl:0/energy_uj", "3000000");
  sampler.sample();
  const MeterTrace t = sampler.traces()[0];
  ASSERT_EQ(t.readings.size(), 2u);
  EXPECT_EQ(t.missing, 2);
  EXPECT_DOUBLE_EQ(t.readings[1].value - t.readings[0].value, 2);
}

TEST_F(SamplerTest, StopsAtOnceAndKeepsItsReadings) {
  zone("0", "package-0", "1000000");
  Sampler sampler(open_meters({"rapl"}, root()).meters);
  sampler.start(3600);
  while (sampler.traces()[0].readings.empty()) steady_clock().sleep(0.001);
  sampler.stop();  // a test that hung here would be killed by its time limit
  sampler.sample();
  EXPECT_EQ(sampler.traces()[0].readings.size(), 2u);
}

TEST(Sampler, WithoutSensorsDoesNothing) {
  Sampler sampler({});
  sampler.start(0.001);
  sampler.sample();
  EXPECT_TRUE(sampler.empty());
  EXPECT_TRUE(sampler.traces().empty());
}

TEST(Sampler, AReadingThatIsNotLaterIsLeftOut) {
  std::vector<std::unique_ptr<Meter>> meters;
  meters.push_back(
      std::make_unique<FakeMeter>(MeterInfo{.name = "fake", .domain = "d", .scope = "package"},
                                  std::deque<std::optional<MeterReading>>{MeterReading{1, 10}, MeterReading{1, 11}, MeterReading{2, 12}}));
  Sampler sampler(std::move(meters));
  for (int i = 0; i < 4; ++i) sampler.sample();
  EXPECT_EQ(sampler.traces()[0].readings.size(), 2u);
  EXPECT_EQ(sampler.traces()[0].missing, 1);
}

}  // namespace
}  // namespace erg
