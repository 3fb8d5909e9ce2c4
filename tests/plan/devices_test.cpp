// Device files: which name finds which file, what is said of an unknown one, and what a broken file's error names.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/error.hpp"
#include "plan/plan.hpp"

namespace erg {
namespace {

Plan plan_on(const std::string& device, Precision precision = Precision::bf16, double share = 1) {
  Spec s;
  s.workload.precision = precision;
  return make_plan(s, true, device, share);
}

TEST(Peak, ComesFromTheDeviceFileWithItsSource) {
  const Plan p = plan_on("NVIDIA A100-SXM4-40GB");
  ASSERT_TRUE(p.peak_flops);
  EXPECT_DOUBLE_EQ(*p.peak_flops, 312e12);
  EXPECT_NE(p.peak_source.find("llm.c"), std::string::npos) << p.peak_source;
}

TEST(Peak, DependsOnThePrecision) {
  EXPECT_DOUBLE_EQ(*plan_on("NVIDIA A100-SXM4-40GB", Precision::fp32).peak_flops, 19.5e12);
  EXPECT_DOUBLE_EQ(*plan_on("NVIDIA A100-SXM4-40GB", Precision::tf32).peak_flops, 156e12);
  const Plan none = plan_on("Tesla V100-SXM2-16GB");  // has no bf16 units
  EXPECT_FALSE(none.peak_flops);
  EXPECT_NE(none.peak_source.find("bf16"), std::string::npos) << none.peak_source;
}

TEST(Peak, IsTheShareOfTheDevice) { EXPECT_DOUBLE_EQ(*plan_on("NVIDIA A100-SXM4-40GB", Precision::bf16, 0.5).peak_flops, 156e12); }

TEST(Peak, UnknownDeviceHasNoneButAReason) {
  for (const char* name :
       {"", "AMD EPYC", "AMD EPYC 9R14", "Intel(R) Xeon(R) Processor", "NVIDIA", "NVIDIA A100", "A100", "H100", "unavailable"}) {
    const Plan p = plan_on(name);
    EXPECT_FALSE(p.peak_flops) << name;
    EXPECT_FALSE(p.peak_source.empty()) << name;
  }
}

TEST(Devices, EveryFileHasNameSourceAndPositivePeaks) {
  const std::vector<DeviceFile> devices = load_devices(devices_folder());
  EXPECT_GE(devices.size(), 10u);
  for (const DeviceFile& d : devices) {
    EXPECT_FALSE(d.name.empty());
    EXPECT_FALSE(d.source.empty()) << d.name;
    EXPECT_FALSE(d.match.empty()) << d.name;
    EXPECT_FALSE(d.peak_tflops.empty()) << d.name;
    for (const auto& [dtype, peak] : d.peak_tflops) EXPECT_GT(peak, 0) << d.name << " " << dtype;
  }
}

TEST(Devices, NoNameFindsTwoFiles) {
  const std::vector<DeviceFile> devices = load_devices(devices_folder());
  for (const DeviceFile& one : devices) {
    for (const DeviceFile& other : devices) {
      if (one.name == other.name) continue;
      for (const std::string& name : one.match) {
        for (const std::string& part : other.match)
          EXPECT_EQ(name.find(part), std::string::npos) << one.name << " is found as " << other.name;
      }
    }
  }
}

class DeviceFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) / "erg_devices";
    std::filesystem::create_directories(folder_);
    setenv("ERGOMETER_DEVICES", folder_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("ERGOMETER_DEVICES");
    std::filesystem::remove_all(folder_);
  }
  void write(const std::string& text) const { std::ofstream(folder_ / "mine.toml") << text; }

  std::filesystem::path folder_;
};

TEST_F(DeviceFolder, OfTheUserIsReadInstead) {
  write("name = 'Mine'\nvendor = 'me'\nsource = 'my bench'\nmatch = ['Mine 1']\n[peak_tflops]\nbf16 = 2.5\n");
  EXPECT_DOUBLE_EQ(*plan_on("the Mine 1 chip").peak_flops, 2.5e12);
  EXPECT_EQ(plan_on("the Mine 1 chip").peak_source, "my bench");
  EXPECT_FALSE(plan_on("NVIDIA A100-SXM4-40GB").peak_flops);
}

TEST_F(DeviceFolder, BrokenFilesAreUsageErrorsThatNameFileAndKey) {
  const auto error = [&](const std::string& text) {
    write(text);
    try {
      load_devices(folder_.string());
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::usage);
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  EXPECT_NE(error("name = 'Mine'\nvendor = 'me'\n").find("source"), std::string::npos);
  const std::string negative = error("name = 'a'\nvendor = 'b'\nsource = 'c'\n[peak_tflops]\nbf16 = -1\n");
  EXPECT_NE(negative.find("mine.toml"), std::string::npos) << negative;
  EXPECT_NE(negative.find("bf16"), std::string::npos) << negative;
  EXPECT_NE(error("name = \n").find("mine.toml:1"), std::string::npos);
}

}  // namespace
}  // namespace erg
