// `ergometer run` under made-up sensors: a RAPL package whose counter a thread moves at 100 W.
#include <gmock/gmock.h>

#include <fstream>
#include <thread>

#include "core/clock.hpp"
#include "program.hpp"

namespace erg {
namespace {

using namespace test;
using testing::HasSubstr;

class FakePackage {
 public:
  explicit FakePackage(const std::filesystem::path& sysfs) : zone_(sysfs / "class/powercap/intel-rapl:0") {
    std::filesystem::create_directories(zone_);
    std::ofstream(zone_ / "name") << "package-0\n";
    std::ofstream(zone_ / "max_energy_range_uj") << range << "\n";
    write(0);
    thread_ = std::jthread([this](const std::stop_token& stop) {
      const double begin = steady_clock().now();
      while (!stop.stop_requested()) {
        write(steady_clock().now() - begin);
        steady_clock().sleep(0.001);
      }
    });
  }

 private:
  static constexpr int64_t range = 262143328850;

  // Just before its largest value, so that it starts again within the run's first second.
  void write(double seconds) {
    std::ofstream(zone_ / "new") << (range - 50'000'000 + int64_t(1e6 * 100 * seconds)) % range << "\n";
    std::filesystem::rename(zone_ / "new", zone_ / "energy_uj");
  }

  std::filesystem::path zone_;
  std::jthread thread_;
};

TEST(Energy, OfTheWindowIsInTheRecordAndTheTable) {
  Program ergometer;
  const std::filesystem::path sysfs = ergometer.folder() / "sys";
  const FakePackage package(sysfs);
  const auto record = ergometer.json(
      std::vector<std::string>{"run", "gpt-tiny", "--device", "ref", "--sysfs-root", sysfs.string(), "--set", "energy.interval_ms=5"} +
      brief + std::vector<std::string>{"--set", "measure.duration_s=1"});
  const double joules = record.at("metrics").at("energy_j").at("value"), seconds = record.at("phases").at("measure_s");
  EXPECT_NEAR(joules / seconds, 100, 20);  // the writing thread may be late by a fifth of the window
  EXPECT_DOUBLE_EQ(record.at("metrics").at("mean_power_w").at("value"), joules / seconds);
  EXPECT_DOUBLE_EQ(record.at("metrics").at("energy_wh_per_device").at("value"), joules / 3600);
  const auto& energy = record.at("energy");
  EXPECT_DOUBLE_EQ(energy.at("total_j"), joules);
  ASSERT_EQ(energy.at("domains").size(), 1u);
  EXPECT_EQ(energy.at("domains")[0].at("domain"), "package-0");
  EXPECT_EQ(energy.at("domains")[0].at("quality"), "counter");
  EXPECT_GT(energy.at("domains")[0].at("readings"), 100);  // two seconds on both sides of the window
  EXPECT_THAT(energy.at("not_included").dump(), testing::AllOf(HasSubstr("\"dram\""), HasSubstr("\"power supply\"")));
  EXPECT_THAT(record.at("flags").dump(), HasSubstr("window_short"));  // under 5 s
  EXPECT_THAT(ergometer({"show"}).out, testing::AllOf(testing::ContainsRegex("energy_j +[0-9.]+ J"), HasSubstr("package-0 (rapl)")));
}

TEST(Energy, ACounterThatStandsStillIsUnavailableWithTheReason) {
  Program ergometer;
  const std::filesystem::path zone = ergometer.folder() / "sys/class/powercap/intel-rapl:0";
  std::filesystem::create_directories(zone);
  std::ofstream(zone / "name") << "package-0\n";
  std::ofstream(zone / "energy_uj") << "5000000\n";
  const auto record = ergometer.json(std::vector<std::string>{"run", "gpt-tiny", "--device", "ref"} + brief);
  EXPECT_TRUE(record.at("metrics").at("energy_j").at("value").is_null());
  EXPECT_THAT(std::string(record.at("metrics").at("energy_j").at("reason")), HasSubstr("package-0: "));
  EXPECT_EQ(record.at("energy").at("domains")[0].at("quality"), "unavailable");
}

}  // namespace
}  // namespace erg
