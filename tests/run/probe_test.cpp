// A machine's identity, its probe file, the peak a run is held against; and the real probe, sanity only.
#include "run/probe.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "../store/sample_records.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "run/results.hpp"

namespace erg {
namespace {

using test::TemporaryFolder;
using testing::HasSubstr;

Json environment() {
  return {{"host", {{"load", {1.0, 2.0, 3.0}}}},
          {"cpu", {{"model", "Test CPU"}, {"sockets", 1}, {"cores", 2}, {"threads", 4}, {"instruction_sets", {"avx2"}}}},
          {"memory", {{"total_bytes", int64_t(16) << 30}, {"available_bytes", int64_t(8) << 30}}},
          {"limits", {{"affinity", {0, 1}}, {"cgroup_cpus", "none"}}}};
}
EngineInfo engine() {
  return {.name = "cpu", .device = "Test CPU", .library = "lib 1.0", .isa = "avx2", .native_bf16 = false, .threads = 2};
}
std::string identity(const Json& e, const EngineInfo& info = engine()) { return machine_identity(stable_facts(e, info)); }

TEST(Identity, IsOfStableFactsOnly) {
  const Json base = environment();
  Json busy = base;
  busy["host"]["load"] = {9.0, 9.0, 9.0};
  busy["memory"]["available_bytes"] = 1;
  busy["memory"]["total_bytes"] = (int64_t(16) << 30) - 1000;  // the kernel kept some more
  EXPECT_EQ(identity(busy), identity(base));
  EXPECT_EQ(identity(base).size(), 16u);
  EngineInfo fewer = engine();
  fewer.threads = 1;  // of the same machine
  EXPECT_EQ(identity(base, fewer), identity(base));
}

TEST(Identity, ChangesWithEveryFactThatMatters) {
  const Json base = environment();
  std::vector<std::string> all = {identity(base)};
  for (const auto& [path, value] : std::vector<std::pair<const char*, Json>>{{"/cpu/model", "Other"},
                                                                             {"/cpu/cores", 4},
                                                                             {"/cpu/instruction_sets", Json::array({"avx2", "amx_bf16"})},
                                                                             {"/memory/total_bytes", int64_t(32) << 30},
                                                                             {"/limits/affinity", Json::array({0})},
                                                                             {"/limits/cgroup_cpus", 1.5}}) {
    Json other = base;
    other[Json::json_pointer(path)] = value;
    all.push_back(identity(other));
  }
  EngineInfo newer = engine();
  newer.library = "lib 2.0";
  all.push_back(identity(base, newer));
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
}

TEST(Threads, ArePowersOfTwoAndAll) {
  EXPECT_EQ(thread_counts(1), std::vector<int>{1});
  EXPECT_EQ(thread_counts(2), (std::vector<int>{1, 2}));
  EXPECT_EQ(thread_counts(6), (std::vector<int>{1, 2, 4, 6}));
  EXPECT_EQ(thread_counts(8), (std::vector<int>{1, 2, 4, 8}));
}

class ProbeFile : public testing::Test {
 protected:
  void store(const std::string& text) {
    const auto path = probe_path(folder_.path(), identity(environment()));
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void store_two_threads() {
    store(R"({"schema_version":1,"results":[{"threads":2,"measured":"2026-12-01T00:00:00Z","flags":[],"gemm":{
      "fp32":{"peak_flops":2e11,"peak_shape":{"m":1,"n":2,"k":3}},"bf16":"unavailable"}}]})");
  }
  ProbePeak peak(DType dtype, int threads = 2) {
    EngineInfo info = engine();
    info.threads = threads;
    return find_peak(folder_.path(), environment(), info, dtype);
  }
  TemporaryFolder folder_;
};

TEST_F(ProbeFile, GivesThePeakOfTypeAndThreads) {
  store_two_threads();
  const ProbePeak p = peak(DType::f32);
  ASSERT_TRUE(p.flops) << p.reason;
  EXPECT_DOUBLE_EQ(*p.flops, 2e11);
  EXPECT_EQ(p.source.at("shape"), "1 x 2 x 3");
  EXPECT_EQ(p.source.at("measured"), "2026-12-01T00:00:00Z");
  EXPECT_EQ(p.source.at("identity"), identity(environment()));
}

TEST_F(ProbeFile, WhatIsNotMeasuredHasAReasonAndTheFix) {
  EXPECT_THAT(peak(DType::f32).reason, testing::AllOf(HasSubstr("not been probed"), HasSubstr("ergometer probe")));
  store_two_threads();
  EXPECT_THAT(peak(DType::bf16).reason, testing::AllOf(HasSubstr("bf16"), HasSubstr("ergometer probe")));
  EXPECT_THAT(peak(DType::f32, 4).reason, testing::AllOf(HasSubstr("4 threads"), HasSubstr("ergometer probe")));
  EXPECT_TRUE(peak(DType::f32, 4).source.is_null());
}

TEST_F(ProbeFile, ABrokenOneIsNamedAndStopsNoRun) {
  for (const char* text : {"{", "[]", "{\"schema_version\":2,\"results\":[]}", "{\"schema_version\":1}",
                           "{\"schema_version\":1,\"results\":[{\"threads\":\"x\"}]}"}) {
    store(text);
    EXPECT_THROW(load_probe(folder_.path(), identity(environment())), Error) << text;
    EXPECT_FALSE(peak(DType::f32).flops) << text;
    EXPECT_THAT(peak(DType::f32).reason, HasSubstr(".json")) << text;
  }
}

TEST(MfuProbe, AboveThePeakIsFlaggedNotHidden) {
  const auto flags = [](double share) { return probe_flags({{"mfu_probe", measured("mfu_probe", share)}}); };
  EXPECT_TRUE(flags(1.05).empty());
  ASSERT_EQ(flags(1.2).size(), 1u);
  EXPECT_EQ(flags(1.2)[0].code, "probe_exceeded");
  EXPECT_THAT(flags(1.2)[0].detail, testing::AllOf(HasSubstr("1.20"), HasSubstr("--again")));
  EXPECT_TRUE(probe_flags({{"mfu_probe", unavailable("mfu_probe", "x")}}).empty());
  EXPECT_TRUE(probe_flags({}).empty());
}

ProbeOptions brief(const std::string& device) {
  ProbeOptions o;
  o.device = device;
  o.times = {.heat_s = 0.01, .measure_s = 0.02, .brief_heat_s = 0, .brief_s = 0.01, .longest_call_s = 1};
  o.stream_s = 0.01;
  o.array_bytes = 1 << 20;
  o.shapes = {{64, 64, 64, "small"}, {128, 96, 64, "larger"}};
  return o;
}

TEST(ProbeMachine, IsKeptAndUsedAgain) {
  TemporaryFolder folder;
  const Json first = probe_machine(brief("ref"), folder.path()), second = probe_machine(brief("ref"), folder.path());
  EXPECT_EQ(first, second);
  ProbeOptions again = brief("ref");
  again.again = true;
  int steps = 0;
  again.progress = [&](const std::string&) { ++steps; };
  probe_machine(again, folder.path());
  EXPECT_GT(steps, 0);
  const std::string file = read_file(probe_path(folder.path(), first.at("identity").get<std::string>()));
  EXPECT_EQ(Json::parse(file).at("results").size(), 1u);
}

TEST(ProbeMachine, MoreThreadsThanAllowedAreAUsageError) {
  TemporaryFolder folder;
  ProbeOptions o = brief("ref");
  o.threads = {2};
  try {
    probe_machine(o, folder.path());
    FAIL();
  } catch (const Error& e) { EXPECT_EQ(e.kind(), ErrorKind::usage); }
}

TEST(ProbeMachine, AnUnknownDeviceIsUnavailable) {
  TemporaryFolder folder;
  EXPECT_THROW(probe_machine(brief("cuda"), folder.path()), Error);
}

// Values only: how fast this machine is, no test can know.
TEST(FullProbe, OfThisMachineIsSane) {
  TemporaryFolder folder;
  const Json probe = probe_machine(brief("cpu"), folder.path());
  ASSERT_GE(probe.at("results").size(), 1u);
  for (const Json& r : probe.at("results")) {
    for (const char* dtype : {"fp32", "bf16"}) {
      const Json& g = r.at("gemm").at(dtype);
      if (!g.is_object()) continue;
      EXPECT_GT(g.at("peak_flops"), 0);
      EXPECT_GE(g.at("peak_flops"), g.at("median_flops"));
      EXPECT_EQ(g.at("check").at("passed"), true);
    }
    for (const char* stream : {"fill", "read", "copy", "triad"}) EXPECT_GT(r.at("memory").at(stream).at("median_bytes_per_s"), 0) << stream;
    EXPECT_EQ(r.at("memory").at("check").at("passed"), true);
    EXPECT_GT(r.at("empty_step_s"), 0);
    EXPECT_GT(r.at("empty_call_s").at("best"), 0);
  }
}

}  // namespace
}  // namespace erg
