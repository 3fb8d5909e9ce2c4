// Which sensors are found, what they are called, what is added up, and why the rest is not there.
#include "meter/meter.hpp"

#include <map>

#include "meter/fake_meter.hpp"
#include "meter/sensor_file.hpp"
#include "sysfs_tree.hpp"

namespace erg {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

class Meters : public test::SysfsTree {
 protected:
  // Domain -> why it is not added.
  std::map<std::string, std::string> domains(const MeterSet& set) {
    std::map<std::string, std::string> found;
    for (const auto& m : set.meters) found[m->info().domain] = m->info().not_added;
    return found;
  }
  std::vector<std::string> reasons(const MeterSet& set) {
    std::vector<std::string> texts;
    for (const NoSensor& n : set.unavailable) texts.push_back(n.text());
    return texts;
  }
};

// Root may read every file: it gives that up for a while.
class AsNobody {
 public:
  AsNobody() {
    if (user_ == 0 && ::seteuid(65534) != 0) throw std::runtime_error("cannot become nobody");
  }
  ~AsNobody() {
    if (user_ == 0 && ::seteuid(0) != 0) std::abort();
  }

 private:
  uid_t user_ = ::geteuid();
};

TEST_F(Meters, NoSensorIsAReasonWithTheLookedAtPath) {
  const MeterSet set = open_meters({"auto"}, root());
  EXPECT_TRUE(set.meters.empty());
  EXPECT_THAT(reasons(set), testing::ElementsAre("rapl: " + root() + "/class/powercap/intel-rapl is not there",
                                                 "hwmon: " + root() + "/class/hwmon has no energy or power sensor"));
}

// energy_cases.md T7 and T9: package and dram are added; core, uncore and psys stand beside.
TEST_F(Meters, RaplAddsPackagesAndDramOnly) {
  zone("0", "package-1", "1000000");
  zone("0:0", "core", "500000");
  zone("0:1", "dram", "250000", "65712999613");
  zone("1", "package-0", "3000000");
  zone("1:0", "uncore", "1");
  zone("2", "psys", "9000000");
  zone("0", "package-1", "1000000", "262143328850", "intel-rapl-mmio");
  const MeterSet set = open_meters({"rapl"}, root());
  EXPECT_THAT(domains(set), UnorderedElementsAre(Pair("package-0", ""), Pair("package-1", ""), Pair("package-1/dram", ""),
                                                 Pair("package-1/core", "inside package-1"), Pair("package-0/uncore", "inside package-0"),
                                                 Pair("psys", "contains the package")));
  EXPECT_EQ(set.meters.size(), 6u);  // the mmio zone is the same package
  EXPECT_THAT(set.unavailable, IsEmpty());
  for (const auto& m : set.meters) {
    EXPECT_TRUE(m->info().counter);
    if (m->info().domain == "package-0") {
      EXPECT_DOUBLE_EQ(m->info().range_j, 262143.328850);
      EXPECT_DOUBLE_EQ(m->read()->value, 3.0);
    }
  }
}

TEST_F(Meters, WithoutAPackageThePlatformIsTheSum) {
  zone("0", "psys", "9000000");
  EXPECT_THAT(domains(open_meters({"rapl"}, root())), UnorderedElementsAre(Pair("psys", "")));
}

TEST_F(Meters, DramAloneIsNotTheEnergyOfARun) {
  zone("0", "package-0", "x");
  zone("0:0", "dram", "9000000");
  const MeterSet set = open_meters({"rapl"}, root());
  EXPECT_THAT(domains(set), UnorderedElementsAre(Pair("package-0/dram", "no processor is measured beside it")));
  EXPECT_THAT(reasons(set), testing::ElementsAre("rapl: not_supported: package-0 cannot be read"));
}

TEST_F(Meters, AFileThatCannotBeReadIsNamed) {
  zone("0", "package-0", "1000000");
  zone("1", "package-1", "1000000");
  unreadable("class/powercap/intel-rapl:1/energy_uj");
  const MeterSet set = open_meters({"rapl"}, root());
  EXPECT_THAT(domains(set), UnorderedElementsAre(Pair("package-0", "")));
  EXPECT_THAT(reasons(set), testing::ElementsAre("rapl: not_supported: package-1 cannot be read"));
}

TEST_F(Meters, PermissionIsAReasonWithItsCommandAndItsPrice) {
  zone("0", "package-0", "1000000");
  std::filesystem::permissions(root_ / "class/powercap/intel-rapl:0/energy_uj", std::filesystem::perms::none);
  MeterSet set;
  {
    const AsNobody nobody;
    set = open_meters({"rapl"}, root());
  }
  ASSERT_EQ(set.unavailable.size(), 1u);
  EXPECT_THAT(set.unavailable[0].reason, HasSubstr("no_permission: package-0"));
  EXPECT_THAT(set.unavailable[0].fix, AllOf(HasSubstr("chmod"), HasSubstr("CVE-2020-8694")));
}

TEST_F(Meters, AContainersDanglingLinkIsNotAMissingSensor) {
  zone("0", "package-0", "1000000");
  remove("class/powercap/intel-rapl:0");
  std::filesystem::create_symlink("../../devices/virtual/powercap/intel-rapl:0", root_ / "class/powercap/intel-rapl:0");
  const MeterSet set = open_meters({"rapl"}, root());
  ASSERT_EQ(set.unavailable.size(), 1u);
  EXPECT_THAT(set.unavailable[0].reason, HasSubstr("masked_by_container"));
  EXPECT_THAT(set.unavailable[0].fix, HasSubstr("--sysfs-root"));
}

TEST_F(Meters, OnlyAWholeNumberIsAReading) {
  const auto reading = [&](const std::string& text) {
    write("n", text);
    return read_sensor_file(root_ / "n");
  };
  EXPECT_EQ(reading("42").value, 42);
  EXPECT_EQ(reading("9223372036854775807").value, INT64_MAX);
  for (const char* garbage : {"", "-1", "12x", "1.5", "N/A", "9223372036854775808", "1 2"}) {
    EXPECT_FALSE(reading(garbage).value) << garbage;
    EXPECT_EQ(reading(garbage).reason, "not_supported") << garbage;
  }
  EXPECT_EQ(read_sensor_file(root_ / "none").reason, "sensor_missing");
}

TEST_F(Meters, HwmonSensorsByDriverAndLabel) {
  write("class/hwmon/hwmon10/name", "amd_energy");
  write("class/hwmon/hwmon10/energy1_label", "Ecore000");
  write("class/hwmon/hwmon10/energy1_input", "7000000");
  write("class/hwmon/hwmon10/energy2_label", "Esocket0");
  write("class/hwmon/hwmon10/energy2_input", "90000000");
  write("class/hwmon/hwmon2/name", "nvme");
  write("class/hwmon/hwmon2/temp1_input", "40000");
  write("class/hwmon/hwmon3/name", "amdgpu");
  write("class/hwmon/hwmon3/power1_average", "89000000");
  write("class/hwmon/hwmon4/name", "mystery");
  write("class/hwmon/hwmon4/power1_input", "1500000");
  const MeterSet set = open_meters({"hwmon"}, root());
  EXPECT_THAT(domains(set),
              UnorderedElementsAre(Pair("package-0", ""), Pair("Ecore000", "inside its package"), Pair("gpu hwmon3", HasSubstr("GPU")),
                                   Pair("mystery hwmon4 power1", HasSubstr("not known"))));
  for (const auto& m : set.meters) {
    if (m->info().domain == "package-0") {
      EXPECT_TRUE(m->info().counter);
      EXPECT_DOUBLE_EQ(m->read()->value, 90);
    }
    if (m->info().scope == "gpu") {
      EXPECT_FALSE(m->info().counter);
      EXPECT_DOUBLE_EQ(m->read()->value, 89);
    }
  }
}

// energy.md §1.9 and energy_cases.md T20: the module contains Grace, which contains the CPU; never added to each other.
TEST_F(Meters, GracePowerMetersContainEachOther) {
  for (const auto& [n, name] : {std::pair{"1", "Module Power Socket 0"}, {"2", "Grace Power Socket 0"}, {"3", "SysIO Power Socket 0"}}) {
    const std::string device = std::string("class/hwmon/hwmon") + n + "/device/";
    write(std::string("class/hwmon/hwmon") + n + "/name", "power_meter");
    write(device + "power1_average", "150000000");
    write(device + "power1_average_interval", "50");
    write(device + "power1_oem_info", name);
  }
  const MeterSet set = open_meters({"hwmon"}, root());
  EXPECT_THAT(domains(set), UnorderedElementsAre(Pair("grace-0", ""), Pair("module-0", "contains the grace"),
                                                 Pair("io-0", HasSubstr("not the processor"))));
  EXPECT_DOUBLE_EQ(set.meters[0]->info().period_s, 0.05);
}

TEST_F(Meters, OneDomainOfTwoMethodsIsAddedOnce) {
  zone("0", "package-0", "1000000");
  write("class/hwmon/hwmon0/name", "xgene");
  write("class/hwmon/hwmon0/power1_label", "CPU power");
  write("class/hwmon/hwmon0/power1_input", "20000000");
  const MeterSet set = open_meters({"auto"}, root());
  ASSERT_EQ(set.meters.size(), 2u);
  EXPECT_EQ(set.meters[0]->info().not_added, "");
  EXPECT_TRUE(set.meters[0]->info().counter);
  EXPECT_EQ(set.meters[1]->info().domain, "package-0");
  EXPECT_EQ(set.meters[1]->info().not_added, "measured by another sensor too");
}

TEST_F(Meters, APowerNoDeviceHasIsNoReading) {
  write("class/hwmon/hwmon0/name", "amdgpu");
  write("class/hwmon/hwmon0/power1_average", "5000000001");
  const MeterSet set = open_meters({"hwmon"}, root());
  ASSERT_EQ(set.meters.size(), 1u);
  EXPECT_FALSE(set.meters[0]->read());
  write("class/hwmon/hwmon0/power1_average", "5000000000");
  EXPECT_DOUBLE_EQ(set.meters[0]->read()->value, 5000);
}

TEST_F(Meters, EveryMethodAskedForIsAnswered) {
  EXPECT_THAT(reasons(open_meters({"none"}, root())), testing::ElementsAre(HasSubstr("not asked for")));
  EXPECT_THAT(reasons(open_meters({}, root())), testing::ElementsAre(HasSubstr("not asked for")));
  EXPECT_THAT(reasons(open_meters({"nvml", "rapl"}, root())), testing::ElementsAre(HasSubstr("nvml: "), HasSubstr("rapl: ")));
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
