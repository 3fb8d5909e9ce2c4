// Host facts and host use, read from a made-up /proc and /sys.
#include <gmock/gmock.h>
#include <sched.h>

#include <fstream>

#include "../store/sample_records.hpp"
#include "run/build_info.hpp"
#include "run/host_facts.hpp"
#include "run/host_use.hpp"
#include "run/measure.hpp"

namespace erg {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

class Host : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    fs::create_directories((folder_.path() / path).parent_path());
    std::ofstream(folder_.path() / path) << text;
  }
  std::string root() const { return folder_.path().string(); }
  TemporaryFolder folder_;
};

TEST_F(Host, FactsOfATwoSocketMachine) {
  write("proc/cpuinfo",
        "processor\t: 0\nmodel name\t: Test CPU 9000\nmicrocode\t: 0xa\nflags\t\t: fpu avx2 avx512_bf16 hypervisor\n\nprocessor\t: "
        "1\nmodel name\t: other\n");
  for (int cpu = 0; cpu < 8; ++cpu) {  // 2 packages x 2 cores x 2 threads; core ids repeat in each package
    const std::string at = "sys/devices/system/cpu/cpu" + std::to_string(cpu);
    write(at + "/topology/physical_package_id", std::to_string(cpu / 4) + "\n");
    write(at + "/topology/core_id", std::to_string(cpu / 2 % 2) + "\n");
    write(at + "/cpufreq/scaling_governor", "powersave\n");
  }
  write("sys/devices/system/cpu/cpufreq/boost", "1\n");
  write("sys/devices/system/cpu/cpu0/cache/index0/level", "1\n");
  write("sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n");
  write("sys/devices/system/cpu/cpu0/cache/index0/size", "32K\n");
  write("sys/devices/system/cpu/cpu0/cache/index1/level", "3\n");
  write("sys/devices/system/cpu/cpu0/cache/index1/type", "Unified\n");
  write("sys/devices/system/cpu/cpu0/cache/index1/size", "32768K\n");
  write("sys/devices/system/node/node0/cpulist", "0-3\n");
  write("sys/devices/system/node/node1/cpulist", "4-7\n");
  write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  write("proc/meminfo", "MemTotal:       16384 kB\nMemAvailable:    8192 kB\nSwapTotal:           0 kB\n");
  write("proc/loadavg", "1.50 2.00 3.25 1/2 3\n");
  write("proc/1/cgroup", "0::/docker/abc\n");
  write("etc/os-release", "NAME=x\nPRETTY_NAME=\"Test Linux 12\"\n");
  const Json f = host_facts(root());
  EXPECT_EQ(f["cpu"]["model"], "Test CPU 9000");
  EXPECT_EQ(f["cpu"]["sockets"], 2);
  EXPECT_EQ(f["cpu"]["cores"], 4);
  EXPECT_EQ(f["cpu"]["threads"], 8);
  EXPECT_EQ(f["cpu"]["smt"], true);
  EXPECT_EQ(f["cpu"]["numa_nodes"], 2);
  EXPECT_EQ(f["cpu"]["instruction_sets"], Json({"avx2", "avx512_bf16"}));
  EXPECT_EQ(f["cpu"]["governor"], "powersave");
  EXPECT_EQ(f["cpu"]["turbo"], "on");
  EXPECT_EQ(f["cpu"]["caches"]["l1d"], "32K");
  EXPECT_EQ(f["cpu"]["caches"]["l3"], "32768K");
  EXPECT_EQ(f["memory"]["total_bytes"], 16384 * 1024);
  EXPECT_EQ(f["memory"]["swap_bytes"], 0);
  EXPECT_EQ(f["memory"]["transparent_huge_pages"], "madvise");
  EXPECT_EQ(f["limits"]["cgroup_cpus"], 2.0);
  EXPECT_EQ(f["limits"]["cgroup_memory_bytes"], "none");
  EXPECT_EQ(f["host"]["distribution"], "Test Linux 12");
  EXPECT_EQ(f["host"]["container"], "docker");
  EXPECT_EQ(f["host"]["virtual_machine"], "yes");
  EXPECT_EQ(f["host"]["load"], Json({1.5, 2.0, 3.25}));
}

TEST_F(Host, FactsOfAnIntelMachineWithoutBoostSwitch) {
  write("proc/cpuinfo", "model name\t: Intel Xeon\nflags\t\t: fpu avx512f amx_bf16\n");
  write("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
  for (int cpu = 0; cpu < 2; ++cpu) {
    const std::string at = "sys/devices/system/cpu/cpu" + std::to_string(cpu);
    write(at + "/cpufreq/scaling_driver", "intel_pstate\n");
    write(at + "/cache/index2/level", "2\n"), write(at + "/cache/index2/size", "2048K\n");
    write(at + "/cache/index3/level", "3\n"), write(at + "/cache/index3/size", "30M\n");
    write(at + "/cache/index3/shared_cpu_list", std::to_string(cpu) + "\n");  // one cache each
  }
  write("sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL\n");
  write("sys/devices/system/cpu/cpu0/cpuidle/state1/name", "C1\n");
  write("sys/devices/system/cpu/cpu0/cpuidle/state1/disable", "1\n");
  write("proc/stat", "cpu  100 0 0 200 0 0 0 100 0 0\n");
  const Json f = host_facts(root());
  EXPECT_EQ(f["cpu"]["turbo"], "off");
  EXPECT_EQ(f["cpu"]["frequency_driver"], "intel_pstate");
  EXPECT_EQ(f["cpu"]["last_level_cache_bytes"], 2 * (30 << 20));
  EXPECT_EQ(f["cpu"]["idle_states"], Json({"POLL", "C1 (disabled)"}));
  EXPECT_EQ(f["host"]["virtual_machine"], "no");
  EXPECT_EQ(f["host"]["stolen_share"], 0.25);
}

TEST_F(Host, FactsOfAnArmMachineInAVirtualMachine) {
  write("proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd sve bf16\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n");
  write("sys/class/dmi/id/sys_vendor", "QEMU\n");
  write("sys/class/dmi/id/product_name", "KVM Virtual Machine\n");
  write("run/systemd/container", "podman\n");
  const Json f = host_facts(root());
  EXPECT_EQ(f["cpu"]["model"], "Arm Neoverse-V2");
  EXPECT_EQ(f["cpu"]["instruction_sets"], Json({"asimd", "sve", "bf16"}));
  EXPECT_EQ(f["cpu"]["governor"], "unavailable");
  EXPECT_EQ(f["host"]["virtual_machine"], "yes (QEMU KVM Virtual Machine)");
  EXPECT_EQ(f["host"]["container"], "podman");
}

TEST_F(Host, WhatIsMissingIsUnavailableAndNeverZero) {
  const Json f = host_facts(root());
  for (const char* key : {"model", "sockets", "cores", "threads", "smt", "numa_nodes", "instruction_sets", "microcode", "caches",
                          "governor", "frequency_driver", "min_khz", "max_khz", "turbo", "idle_driver"})
    EXPECT_EQ(f["cpu"][key], "unavailable") << key;
  for (const char* key : {"total_bytes", "available_bytes", "swap_bytes", "transparent_huge_pages"})
    EXPECT_EQ(f["memory"][key], "unavailable") << key;
  EXPECT_EQ(f["limits"]["cgroup_cpus"], "unavailable");
  EXPECT_EQ(f["host"]["distribution"], "unavailable");
  EXPECT_EQ(f["host"]["virtual_machine"], "unavailable");
  EXPECT_EQ(f["host"]["load"], "unavailable");
}

TEST_F(Host, CpuTimesOfOurCpusOnly) {
  std::string stat = "cpu  0 0 0 0 0 0 0 0 0 0\n";
  cpu_set_t mine;
  ASSERT_EQ(::sched_getaffinity(0, sizeof mine, &mine), 0);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &mine))
      stat += "cpu" + std::to_string(cpu) + " 100 0 50 1000 9 25 25 10 0 0\n";
    else
      stat += "cpu" + std::to_string(cpu) + " 99999 0 0 0 0 0 0 99999 0 0\n";
  write("proc/stat", stat);
  const HostSample s = sample_host(FakeClock(), root());
  const double tick = 1.0 / double(::sysconf(_SC_CLK_TCK));
  ASSERT_TRUE(s.busy_s && s.stolen_s);
  EXPECT_NEAR(*s.busy_s, 200 * tick * CPU_COUNT(&mine), 1e-9);
  EXPECT_NEAR(*s.stolen_s, 10 * tick * CPU_COUNT(&mine), 1e-9);
  EXPECT_FALSE(s.throttle_events);
}

HostSample at(double steady, double wall, double own, double busy, double stolen) {
  HostSample s;
  s.steady_s = steady, s.wall_s = wall, s.own_cpu_s = own, s.busy_s = busy, s.stolen_s = stolen, s.cpus = 2;
  return s;
}

std::vector<std::string> codes(const std::vector<Flag>& flags) {
  std::vector<std::string> c;
  for (const Flag& f : flags) c.push_back(f.code);
  return c;
}

TEST(HostFlags, AQuietHostHasNone) { EXPECT_TRUE(host_flags(at(0, 1000, 0, 5, 0), at(10, 1010, 19, 24.5, 0.05)).empty()); }

TEST(HostFlags, EachCause) {
  const HostSample begin = at(0, 1000, 0, 0, 0);
  EXPECT_EQ(codes(host_flags(begin, at(10, 1010, 10, 12, 0))), std::vector<std::string>{"busy_host"});
  EXPECT_EQ(codes(host_flags(begin, at(10, 1010, 10, 10, 0.5))), std::vector<std::string>{"cpu_steal"});
  EXPECT_EQ(codes(host_flags(begin, at(10, 1010.5, 10, 10, 0))), std::vector<std::string>{"clock_step"});
  EXPECT_EQ(codes(host_flags(begin, at(10, 1009.5, 10, 10, 0))), std::vector<std::string>{"clock_step"});
  HostSample cool = begin, hot = at(10, 1010, 10, 10, 0);
  cool.throttle_events = 5, hot.throttle_events = 7;
  EXPECT_EQ(codes(host_flags(cool, hot)), std::vector<std::string>{"throttled"});
}

TEST(HostFlags, UnknownIsNotBad) {
  HostSample begin = at(0, 1000, 0, 0, 0), end = at(10, 1010, 10, 20, 5);
  begin.busy_s.reset(), end.busy_s.reset(), begin.stolen_s.reset(), end.stolen_s.reset();
  end.throttle_events = 7;  // unknown before
  EXPECT_TRUE(host_flags(begin, end).empty());
  EXPECT_TRUE(host_flags({}, {}).empty());
}

TEST(Memory, ResidentSetGrowsWithWhatIsTouched) {
  reset_peak_resident();
  const int64_t before = resident_bytes();
  ASSERT_GT(before, 0);
  constexpr size_t size = 64 << 20;
  std::vector<char> touched(size, 1);
  EXPECT_GE(resident_bytes(), before + int64_t(size) / 2);
  ASSERT_TRUE(peak_resident_bytes());
  EXPECT_GE(*peak_resident_bytes(), before + int64_t(size) / 2);
  EXPECT_EQ(touched[size / 2], 1);
}

TEST(Environment, TellsVariablesByAllowListOnly) {
  ::setenv("OMP_WAIT_POLICY", "active", 1);
  ::setenv("SECRET_TOKEN", "hunter2", 1);
  const Json e = capture_environment();
  EXPECT_EQ(e["variables"]["OMP_WAIT_POLICY"], "active");
  EXPECT_EQ(e.dump().find("hunter2"), std::string::npos);
  ::unsetenv("OMP_WAIT_POLICY");
}

TEST(BuildInfo, KnowsItself) {
  EXPECT_FALSE(build_info().version.empty());
  EXPECT_NE(build_info().compiler.find("1"), std::string::npos);
  EXPECT_TRUE(build_info().git_revision.size() == 40 || build_info().git_revision == "unavailable");
#ifndef NDEBUG
  EXPECT_TRUE(build_info().debug);
#endif
}

}  // namespace
}  // namespace erg
