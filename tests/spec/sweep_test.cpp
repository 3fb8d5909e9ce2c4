// Sweeps: cross products and their order, [[sweep]] tables, flags over them, repeats, skipped points.
#include <gmock/gmock.h>

#include "spec_file.hpp"

namespace erg {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<int64_t> batches(const std::vector<SweepPoint>& points) {
  std::vector<int64_t> b;
  for (const SweepPoint& p : points) b.push_back(p.spec.workload.global_batch);
  return b;
}

TEST(LoadSweep, CrossProductTheLastAxisFastest) {
  const auto points = sweep("workload.preset = 'gpt-tiny'\n[axes]\nprecision = ['fp32', 'bf16']\nworkload.global_batch = '1,2-8*4'");
  ASSERT_EQ(points.size(), 6u);
  EXPECT_THAT(batches(points), ElementsAre(1, 2, 8, 1, 2, 8));
  EXPECT_EQ(points[2].spec.workload.precision, Precision::fp32);
  EXPECT_EQ(points[3].spec.workload.precision, Precision::bf16);
  EXPECT_THAT(points[4].coordinates, ElementsAre(std::pair("workload.precision", "bf16"), std::pair("workload.global_batch", "2")));
  for (const SweepPoint& p : points) EXPECT_EQ(p.skip_reason, "");
}

TEST(LoadSweep, AFileWithoutAxesIsOnePoint) { EXPECT_EQ(sweep("workload.preset = 'gpt-tiny'").size(), 1u); }

TEST(LoadSweep, APresetWithAxes) {
  EXPECT_THAT(batches(load_sweep({"resnet-tiny", {}, {"global_batch=4-16*2"}, {}})), ElementsAre(4, 8, 16));
}

TEST(LoadSweep, AnAxisTakesThePlaceOfAValueBesideIt) {
  EXPECT_THAT(batches(sweep("workload.preset = 'gpt-tiny'\nworkload.global_batch = 64\naxes.global_batch = [1, 2]")), ElementsAre(1, 2));
}

TEST(LoadSweep, FlagsTakeThePlaceOfAxes) {
  const std::string text = "workload.preset = 'gpt-tiny'\naxes.global_batch = [1, 2]";
  EXPECT_THAT(batches(sweep(text, {"global_batch=8"})), ElementsAre(8));
  EXPECT_THAT(batches(sweep(text, {}, {"workload.global_batch=3,4,5"})), ElementsAre(3, 4, 5));
  EXPECT_EQ(sweep(text, {}, {"workload.seed=3,4,5"}).size(), 6u);
}

TEST(LoadSweep, LearningRateFollowsTheBatchOfEachPoint) {
  const auto points = sweep("workload.preset = 'resnet-tiny'\naxes.global_batch = [4, 16]");
  EXPECT_DOUBLE_EQ(points[0].spec.workload.optimizer.learning_rate, 0.004);
  EXPECT_DOUBLE_EQ(points[1].spec.workload.optimizer.learning_rate, 0.016);
}

constexpr const char* two_workloads = R"(
name = "both"
[workload]
precision = "fp32"
[measure]
max_time_s = 25
[axes]
global_batch = [1, 2]
[[sweep]]
workload = {preset = "gpt-tiny", sequence = 16}
[[sweep]]
name = "second"
workload = {preset = "resnet-tiny", precision = "bf16"}
axes = {global_batch = [4, 8, 16]}
labels = {k = "v"}
[[sweep]]
workload = {preset = "gpt-tiny", global_batch = 5}
)";

TEST(LoadSweep, SweepTablesOverlayTheTopLevel) {
  const auto points = sweep(two_workloads);
  EXPECT_THAT(batches(points), ElementsAre(1, 2, 4, 8, 16, 5));
  EXPECT_EQ(points[0].spec.name, "both");
  EXPECT_EQ(points[0].spec.workload.kind, WorkloadKind::gpt);
  EXPECT_EQ(points[0].spec.workload.gpt.sequence, 16);
  EXPECT_EQ(points[0].spec.workload.precision, Precision::fp32);
  EXPECT_EQ(points[2].spec.name, "second");
  EXPECT_EQ(points[2].spec.workload.kind, WorkloadKind::resnet50);
  EXPECT_EQ(points[2].spec.workload.precision, Precision::bf16);
  EXPECT_EQ(points[2].spec.labels.size(), 1u);
  EXPECT_EQ(points[5].spec.workload.gpt.sequence, 32);
  EXPECT_EQ(points[5].coordinates.size(), 0u);
  for (const SweepPoint& p : points) EXPECT_EQ(p.spec.measure.max_time_s, 25);
}

TEST(LoadSweep, ASharedKeyNeedsOneWorkloadThatUsesIt) {
  EXPECT_EQ(sweep(two_workloads, {"sequence=8"})[0].spec.workload.gpt.sequence, 8);  // ResNet has no sequence, GPT has
  EXPECT_THAT(error_of([] { sweep("workload.layers = 2\n[[sweep]]\nworkload.preset = 'resnet-tiny'"); }),
              StartsWith("spec.toml:1:10: unused key workload.layers: a resnet50 workload has no use for it"));
  EXPECT_THAT(
      error_of([] { sweep("[[sweep]]\nworkload = {preset = 'gpt-tiny'}\n[[sweep]]\nworkload = {preset = 'resnet-tiny', layers = 2}"); }),
      StartsWith("spec.toml:4:37: unused key workload.layers"));
  EXPECT_THAT(error_of([] { sweep("workload.preset = 'resnet-tiny'", {}, {"sequence=8,16"}); }),
              StartsWith("--axis sequence=8,16: unused key workload.sequence"));
}

TEST(LoadSweep, PresetsCanBeAnAxis) {
  const auto points = sweep("axes.preset = ['gpt-tiny', 'resnet-tiny']\nworkload.layers = 3");
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0].spec.workload.gpt.layers, 3);
  EXPECT_EQ(points[1].spec.workload.resnet.width, 16);
}

TEST(LoadSweep, RepeatsAreInterleavedOverPoints) {
  const auto points = sweep("workload.preset = 'gpt-tiny'\nmeasure.repeat = 3\naxes.global_batch = [1, 2]");
  EXPECT_THAT(batches(points), ElementsAre(1, 2, 1, 2, 1, 2));
  std::vector<int64_t> repeats;
  for (const SweepPoint& p : points) repeats.push_back(p.spec.repeat_index);
  EXPECT_THAT(repeats, ElementsAre(0, 0, 1, 1, 2, 2));
  EXPECT_EQ(spec_hash(points[0].spec), spec_hash(points[2].spec));
}

TEST(LoadSweep, WhatDoesNotDivideIsSkippedOnce) {
  const auto points = sweep("workload.preset = 'gpt-tiny'\nworkload.micro_batch = 4\nmeasure.repeat = 2\naxes.global_batch = [4, 6, 8]");
  EXPECT_THAT(batches(points), ElementsAre(4, 6, 8, 4, 8));
  EXPECT_EQ(points[1].skip_reason, "global batch 6 is not divisible by data-parallel size 1 x micro-batch 4");
  EXPECT_EQ(points[0].skip_reason, "");
}

TEST(LoadSweep, WhatIsNotBuiltYetIsSkipped) {
  const auto points = sweep("workload.preset = 'gpt-tiny'\nworkload.global_batch = 12\naxes.devices = [1, 2, 5]\naxes.tp = [1, 2]");
  ASSERT_EQ(points.size(), 6u);
  EXPECT_EQ(points[0].skip_reason, "");
  EXPECT_EQ(points[1].skip_reason, "1 devices cannot be split into tp 2 x pp 1");
  EXPECT_THAT(points[2].skip_reason, HasSubstr("one device, not 2, yet"));
  EXPECT_EQ(points[4].skip_reason, "global batch 12 is not divisible by data-parallel size 5");
}

TEST(LoadSweep, Errors) {
  const auto failure = [](const std::string& text) { return error_of([&] { sweep("workload.preset = 'gpt-tiny'\n" + text); }); };
  EXPECT_EQ(failure("[axes]\nglobal_batch = [1, 0]"),
            "spec.toml:3:20: workload.global_batch = 0 is not possible: it takes an integer from 1 to 4194304");
  EXPECT_EQ(failure("[axes]\nglobal_bach = [1]"), "spec.toml:3:1: unknown key global_bach\n  fix: did you mean workload.global_batch?");
  EXPECT_EQ(failure("[axes]\nglobal_batch = []"), "spec.toml:3:1: axis global_batch has no values");
  EXPECT_EQ(failure("[axes]\nglobal_batch = '1-8'"), "spec.toml:3:1: range 1-8 has no step\n  fix: write 1-8+1 or 1-8*2");
  EXPECT_EQ(failure("axes = 3"), "spec.toml:2:1: axes is a table, not a value\n  fix: write [axes]");
  EXPECT_EQ(failure("sweep = 3"), "spec.toml:2:1: sweep takes tables\n  fix: write [[sweep]]");
  EXPECT_THAT(failure("[[sweep]]\n[[sweep.sweep]]\nname = 'x'"), HasSubstr("unknown table sweep"));
  EXPECT_THAT(failure("[axes]\nseed = '1-9999+1'\nglobal_batch = '1-9999+1'"), HasSubstr("points, more than 10000"));
}

}  // namespace
}  // namespace erg
