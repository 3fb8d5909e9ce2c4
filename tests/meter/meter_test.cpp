// What can't be measured is a reason, found by really looking below the given root.
#include "meter/meter.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "meter/fake_meter.hpp"

namespace erg {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class Meters : public testing::Test {
 protected:
  Meters() {
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  ~Meters() override { fs::remove_all(root_); }
  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  fs::path root_ = fs::temp_directory_path() / ("ergometer-meters-" + std::to_string(::getpid()));
};

TEST_F(Meters, NoSensorIsAReasonWithTheLookedAtPath) {
  const MeterSet set = open_meters({"auto"}, root_.string());
  EXPECT_TRUE(set.meters.empty());
  EXPECT_THAT(set.unavailable, ElementsAre("rapl: " + (root_ / "class/powercap/intel-rapl").string() + " is not there"));
}

TEST_F(Meters, ASensorThatIsNotReadYetIsSaidPlainly) {
  write("class/powercap/intel-rapl/enabled", "1");
  write("class/powercap/intel-rapl:0/energy_uj", "123456");
  write("class/powercap/intel-rapl:0/name", "package-0");
  write("class/powercap/intel-rapl:1/name", "package-1");
  const MeterSet set = open_meters({"rapl"}, root_.string());
  EXPECT_THAT(set.unavailable,
              ElementsAre(testing::AllOf(HasSubstr("2 domains, 1 of them readable"), HasSubstr("does not read them yet"))));
}

TEST_F(Meters, EveryMethodAskedForIsAnswered) {
  EXPECT_THAT(open_meters({"none"}, root_.string()).unavailable, ElementsAre(HasSubstr("not asked for")));
  EXPECT_THAT(open_meters({}, root_.string()).unavailable, ElementsAre(HasSubstr("not asked for")));
  EXPECT_THAT(open_meters({"nvml", "rapl"}, root_.string()).unavailable, ElementsAre(HasSubstr("nvml: "), HasSubstr("rapl: ")));
}

TEST(FakeMeter, GivesItsReadingsAndThenNothing) {
  FakeMeter meter({"fake", "package-0", "package", true, 0.001}, {MeterReading{0.0, 5.0}, std::nullopt, MeterReading{1.0, 7.0}});
  EXPECT_EQ(meter.info().scope, "package");
  EXPECT_EQ(meter.read()->value, 5.0);
  EXPECT_FALSE(meter.read());
  EXPECT_EQ(meter.read()->time_s, 1.0);
  EXPECT_FALSE(meter.read());
}

}  // namespace
}  // namespace erg
