// The joules of a window, on the cases of energy_cases.md (T numbers) and on closed forms.
#include "meter/energy.hpp"

#include <gmock/gmock.h>

namespace erg {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

using Points = std::vector<MeterReading>;

MeterTrace counter(Points readings, double range_j = 0, const std::string& domain = "package-0") {
  return {{.name = "rapl", .domain = domain, .scope = "package", .counter = true, .period_s = 1e-3, .range_j = range_j},
          std::move(readings),
          0};
}
MeterTrace power(Points readings, const std::string& domain = "package-0") {
  return {{.name = "hwmon", .domain = domain, .scope = "package"}, std::move(readings), 0};
}
std::vector<std::string> codes(const WindowEnergy& w) {
  std::vector<std::string> c;
  for (const MeterFinding& f : w.findings) c.push_back(f.code);
  return c;
}

TEST(CounterEnergy, IsTheDifference) {
  EXPECT_DOUBLE_EQ(*energy_of(counter({{0, 100}, {10, 400}}), 0, 10).energy_j, 300);
  EXPECT_DOUBLE_EQ(*energy_of(counter({{0, 0}, {1, 100}, {2, 400}}), 0, 2).energy_j, 400);  // T12
}

TEST(CounterEnergy, IsLinearBetweenReadings) {
  EXPECT_DOUBLE_EQ(*energy_of(counter({{0, 0}, {1, 100}, {2, 300}, {3, 400}}), 0.5, 2.5).energy_j, 50 + 200 + 50);
}

// T1: the stored largest value is one unit below the modulus, so up to one unit may be missing.
TEST(CounterEnergy, WrapsAtItsRange) {
  EXPECT_NEAR(*energy_of(counter({{0, 262143.0}, {1, 0.67115}}, 262143.32885), 0, 1).energy_j, 1.0, 62e-6);
  EXPECT_NEAR(*energy_of(counter({{0, 65500.0}, {1, 17.389013}}, 65532.610987), 0, 1).energy_j, 50.0, 17e-6);
}

TEST(CounterEnergy, CountsEveryWrapItSees) {
  Points readings;
  for (int i = 0; i <= 100; ++i) readings.push_back({double(i), std::fmod(300.0 * i, 1000.0)});
  EXPECT_THAT(energy_of(counter(readings, 1000), 0, 100).reason, StartsWith("sampling_gap_exceeded"));  // 5 kW would wrap unseen in 1 s
  for (MeterReading& r : readings) r.time_s *= 0.1;
  EXPECT_NEAR(*energy_of(counter(readings, 1000), 0, 10).energy_j, 30000, 1e-6);
}

// T2: that interval is unknown, and others count.
TEST(CounterEnergy, AFallWithoutARangeIsUnknown) {
  const MeterTrace t = counter({{0, 262143.0}, {1, 0.67115}, {2, 10.67115}});
  EXPECT_FALSE(energy_of(t, 0, 2).energy_j);
  EXPECT_THAT(energy_of(t, 0, 2).reason, StartsWith("counter_decreased_unknown_range"));
  EXPECT_DOUBLE_EQ(*energy_of(t, 1, 2).energy_j, 10);
}

TEST(CounterEnergy, AFallThatIsNoWrapIsAReset) {
  EXPECT_THAT(energy_of(counter({{0, 1000}, {1, 900}}, 262143.32885), 0, 1).reason, StartsWith("counter_reset"));
  EXPECT_THAT(energy_of(counter({{0, 5000}, {1, 0}}, 4000), 0, 0.5).reason, testing::Not(IsEmpty()));
}

TEST(CounterEnergy, ThatStandsStillIsNotZero) {  // T23
  const DomainEnergy e = energy_of(counter({{0, 5000}, {5, 5000}, {10, 5000}}), 0, 10);
  EXPECT_FALSE(e.energy_j);
  EXPECT_THAT(e.reason, StartsWith("counter_stuck"));
  EXPECT_THAT(energy_of(counter({{0, 5}, {0.5, 5}}), 0, 0.5).reason, StartsWith("window_shorter_than_update"));
}

TEST(PowerEnergy, IsTheTrapezoidWithLinearEdges) {  // T13
  EXPECT_DOUBLE_EQ(*energy_of(power({{0, 100}, {1, 200}, {2, 200}, {3, 100}}), 0.5, 2.5).energy_j, 375);
}

TEST(PowerEnergy, AWindowThatBeginsAtZeroIsAWindow) {  // T15
  EXPECT_DOUBLE_EQ(*energy_of(power({{0, 50}, {1, 50}, {2, 50}, {3, 50}}), 0, 2).energy_j, 100);
}

TEST(PowerEnergy, AMissingReadingIsNotZero) {  // T10
  MeterTrace t = power({{0, 300}, {2, 300}});
  t.missing = 1;
  const DomainEnergy e = energy_of(t, 0, 2);
  EXPECT_DOUBLE_EQ(*e.energy_j, 600);
  EXPECT_EQ(e.missing, 1);
}

TEST(PowerEnergy, ALongGapIsUnknown) {
  EXPECT_DOUBLE_EQ(*energy_of(power({{0, 100}, {0.5, 100}, {1, 100}, {4, 100}, {4.5, 100}, {5, 100}}), 0, 5).energy_j,
                   500);  // 3 s is the limit
  const DomainEnergy e = energy_of(power({{0, 100}, {0.5, 100}, {1, 100}, {4.1, 100}, {4.5, 100}, {5, 100}}), 0, 5);
  EXPECT_THAT(e.reason, StartsWith("sampling_gap_exceeded"));
  EXPECT_FALSE(e.energy_j);
  EXPECT_NEAR(e.max_gap_s, 3.1, 1e-9);
  // Gaps outside the window do not count; with slow readings the limit grows.
  EXPECT_DOUBLE_EQ(*energy_of(power({{0, 100}, {50, 100}, {51, 100}, {52, 100}}), 50, 52).energy_j, 200);
  EXPECT_DOUBLE_EQ(*energy_of(power({{0, 100}, {2, 100}, {4, 100}, {13, 100}}), 0, 13).energy_j, 1300);
}

TEST(PowerEnergy, TheMedianIntervalIsTheLowerOne) {  // or one gap in a short file would raise its own limit
  EXPECT_FALSE(energy_of(power({{0, 100}, {0.7, 100}, {5, 100}}), 0, 5).energy_j);
}

TEST(WindowEnergy, OutsideTheReadingsIsUnknown) {
  const Points points = {{0, 100}, {1, 200}, {2, 200}};
  for (const auto& [begin, end] : {std::pair{-0.5, 1.5}, {0.5, 2.5}, {1.0, 1.0}}) {
    EXPECT_THAT(energy_of(power(points), begin, end).reason, StartsWith("window_not_bracketed")) << begin;
    EXPECT_THAT(energy_of(counter(points), begin, end).reason, StartsWith("window_not_bracketed")) << begin;
  }
  EXPECT_THAT(energy_of(power({{0, 1}}), 0, 1).reason, StartsWith("insufficient_samples"));
  EXPECT_THAT(energy_of(power({}), 0, 1).reason, StartsWith("insufficient_samples"));
}

TEST(WindowEnergy, AddsOnlyWhatMayBeAdded) {  // T9: package 100, dram 20, core 60 inside the package
  MeterTrace core = counter({{0, 0}, {10, 60}}, 0, "package-0/core");
  core.sensor.not_added = "inside package-0";
  const WindowEnergy w = window_energy({counter({{0, 0}, {10, 100}}), counter({{0, 5}, {10, 25}}, 0, "package-0/dram"), core}, 0, 10);
  EXPECT_DOUBLE_EQ(*w.total_j, 120);
  EXPECT_THAT(w.domains, testing::SizeIs(3));
  EXPECT_THAT(w.findings, IsEmpty());
}

TEST(WindowEnergy, OneUnknownPartMakesTheSumUnknown) {
  const WindowEnergy w = window_energy({counter({{0, 0}, {10, 100}}), counter({{0, 7}, {10, 7}}, 0, "package-1")}, 0, 10);
  EXPECT_FALSE(w.total_j);
  EXPECT_THAT(w.reason, StartsWith("package-1: counter_stuck"));
}

TEST(WindowEnergy, ACounterIsHeldAgainstItsPower) {
  MeterTrace watts = power({{0, 300}, {2, 300}, {4, 300}, {6, 300}, {8, 300}, {10, 300}});
  watts.sensor.not_added = "measured by another sensor too";
  EXPECT_THAT(window_energy({counter({{0, 0}, {10, 3100}}), watts}, 0, 10).findings, IsEmpty());
  const WindowEnergy off = window_energy({counter({{0, 0}, {10, 6000}}), watts}, 0, 10);
  EXPECT_THAT(codes(off), testing::ElementsAre("counter_mismatch"));
  EXPECT_THAT(off.findings[0].detail, HasSubstr("ratio 2.000"));
  const WindowEnergy stuck = window_energy({counter({{0, 5000}, {5, 5000}, {10, 5000}}), watts}, 0, 10);
  EXPECT_DOUBLE_EQ(*stuck.total_j, 3000);
  EXPECT_THAT(codes(stuck), testing::Contains("counter_stuck"));
  EXPECT_EQ(stuck.domains[0].sensor.name, "hwmon (integrated)");
}

TEST(WindowEnergy, AShortOneIsFlagged) {
  EXPECT_THAT(codes(window_energy({counter({{0, 0}, {4, 100}})}, 0, 4)), testing::ElementsAre("window_short"));
  EXPECT_THAT(codes(window_energy({counter({{0, 0}, {5, 100}})}, 0, 5)), IsEmpty());
  MeterTrace slow = counter({{0, 0}, {20, 100}});
  slow.sensor.period_s = 1;
  EXPECT_THAT(codes(window_energy({slow}, 0, 20)), testing::ElementsAre("window_short"));  // 20 updates
}

TEST(WindowEnergy, WithoutASensorIsNotZero) {
  EXPECT_FALSE(window_energy(std::vector<MeterTrace>{}, 0, 10).total_j);
  EXPECT_NE(window_energy(std::vector<MeterTrace>{}, 0, 10).reason, "");
}

}  // namespace
}  // namespace erg
