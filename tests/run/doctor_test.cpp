// The doctor's checks over made-up facts, and what it prints, word for word.
#include "run/doctor.hpp"

#include <gmock/gmock.h>

#include "core/file.hpp"

namespace erg {
namespace {

using testing::HasSubstr;

HostSample at(double steady, double busy, double stolen) {
  HostSample s;
  s.steady_s = steady, s.busy_s = busy, s.stolen_s = stolen, s.cpus = 4;
  return s;
}

DoctorFacts healthy() {
  DoctorFacts f;
  f.host = {{"host", {{"clock_source", "tsc"}}},
            {"cpu", {{"governor", "performance"}, {"turbo", "off"}, {"threads", 4}}},
            {"memory", {{"total_bytes", int64_t(64'000'000'000)}, {"swap_bytes", 0}, {"swap_free_bytes", 0}}},
            {"limits",
             {{"affinity", {0, 1, 2, 3}},
              {"cgroup_cpus", "none"},
              {"cgroup_memory_bytes", "none"},
              {"address_space_bytes", "none"},
              {"locked_memory_bytes", 8'000'000},
              {"open_files", 1024}}}};
  f.begin = at(0, 0, 0), f.end = at(1, 0, 0);
  f.engines = {{"cpu", "Test CPU, 4 threads", "", true}, {"cuda", "engine_cuda.so is nowhere", "use --device cpu", false}};
  f.sensors = {{.name = "rapl", .domain = "package-0", .scope = "package"}};
  f.shared_memory_bytes = int64_t(8) << 30;
  f.results = "ergometer-results";
  f.results_free_bytes = 50'000'000'000;
  f.has_data = true;
  f.device_files = 16;
  f.build.build_type = "Release";
  f.build.compiler = "GNU 12.2.0";
  return f;
}

DoctorFacts ill() {
  DoctorFacts f = healthy();
  f.host["host"]["clock_source"] = "hpet";
  f.host["cpu"]["governor"] = "powersave";
  f.host["cpu"]["turbo"] = "unavailable";
  f.host["memory"]["swap_bytes"] = 4'000'000'000;
  f.host["memory"]["swap_free_bytes"] = 1'000'000'000;
  f.host["limits"]["cgroup_cpus"] = 1.5;
  f.host["limits"]["cgroup_memory_bytes"] = 2'000'000'000;
  f.host["limits"]["address_space_bytes"] = 1'000'000'000;
  f.end = at(1, 1, 0.2);
  f.engines[0] = {"cpu", "engine_cpu.so is nowhere", "make build", false};
  f.sensors.clear();
  f.no_sensors = {{"rapl", "no_permission: package-0 is readable by root only", "sudo chmod ..."}};
  f.shared_memory_bytes = 64 << 20;
  f.results_error = "/ cannot be written";
  f.has_data = false;
  f.device_files_error = "no folder of device files";
  f.build.debug = true;
  f.build.build_type = "Debug";
  return f;
}

Finding find(const DoctorFacts& f, const std::string& name) {
  for (const Finding& x : diagnose(f))
    if (x.name == name) return x;
  ADD_FAILURE() << "no check is called " << name;
  return {};
}

std::string golden(const std::string& name) { return read_file(std::string(ERG_SOURCE_DIR) + "/tests/golden/" + name); }

TEST(Doctor, SaysWhatWorks) {
  EXPECT_EQ(doctor_text(diagnose(healthy())), golden("doctor_healthy.txt"));
  EXPECT_TRUE(can_run(diagnose(healthy())));  // a missing CUDA engine prevents nothing
}

TEST(Doctor, SaysWhatDoesNotAndTheFix) {
  EXPECT_EQ(doctor_text(diagnose(ill())), golden("doctor_ill.txt"));
  EXPECT_FALSE(can_run(diagnose(ill())));
}

TEST(Doctor, EveryComplaintHasAFix) {
  for (const Finding& f : diagnose(ill())) EXPECT_TRUE(!f.fix.empty() || (f.health != Health::warn && f.health != Health::no)) << f.name;
}

TEST(Doctor, WhatCannotBeKnownIsUnknownAndPreventsNothing) {
  DoctorFacts f = healthy();
  for (auto& [group, facts] : f.host.items())
    for (auto& [key, value] : facts.items()) value = "unavailable";
  f.begin = {}, f.end = {};
  f.shared_memory_bytes.reset();
  f.results_file_system = "unavailable";
  for (const char* name :
       {"CPU governor", "turbo", "other processes", "hypervisor", "CPUs", "memory", "swap", "shared memory", "clock source", "results"})
    EXPECT_EQ(find(f, name).health, Health::unknown) << name;
  EXPECT_TRUE(can_run(diagnose(f)));
}

TEST(Doctor, AnythingThatPreventsRunningIsSaidInTheJsonToo) {
  DoctorFacts f = healthy();
  EXPECT_EQ(doctor_json(diagnose(f)).at("can_run"), true);
  f.engines[0].there = false;
  EXPECT_EQ(doctor_json(diagnose(f)).at("can_run"), false);
  f = healthy();
  f.results_error = "x";
  EXPECT_EQ(doctor_json(diagnose(f)).at("can_run"), false);
}

TEST(Doctor, ANarrowAffinityAndANetworkFolderAreWarnings) {
  DoctorFacts f = healthy();
  f.host["limits"]["affinity"] = {0};
  f.results_file_system = "nfs";
  EXPECT_EQ(find(f, "CPUs").health, Health::warn);
  EXPECT_THAT(find(f, "CPUs").detail, HasSubstr("1 of 4"));
  EXPECT_EQ(find(f, "results").health, Health::warn);
  f.results_file_system.clear();
  f.results_free_bytes = 1000;
  EXPECT_EQ(find(f, "results").health, Health::warn);
}

TEST(Doctor, LooksAtThisMachine) {
  const auto findings = diagnose(gather_facts("/tmp"));
  EXPECT_GT(findings.size(), 10u);
  for (const Finding& f : findings) EXPECT_NE(f.detail, "") << f.name;
}

}  // namespace
}  // namespace erg
