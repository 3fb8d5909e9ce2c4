// The printed output of runs and sweeps.
#include "report/table.hpp"

#include <gmock/gmock.h>

#include "../store/sample_records.hpp"
#include "golden.hpp"

namespace erg {
namespace {

using test::expect_golden;
using test::gpt_record;

Record without_result(const std::string& id, int batch, Status status, const std::string& reason) {
  Record r = gpt_record(id, batch, 1);
  r.status = status;
  r.status_reason = reason;
  r.metrics.clear();
  r.plan = nullptr;
  r.environment = nullptr;
  return r;
}

Record resnet_record(const std::string& id, int batch, double images_per_s) {
  Record r = gpt_record(id, batch, 1);
  r.spec["workload"] = {{"preset", "resnet50"}, {"kind", "resnet50"}, {"precision", "auto"}, {"global_batch", batch}, {"image_size", 224}};
  r.plan["flops_convention"] = "conv+fc, no first input gradient";
  r.metrics.erase("tokens_per_s");
  r.metrics["images_per_s"] = measured("images_per_s", images_per_s);
  r.metrics["images_per_s"].ci95 = {images_per_s * 0.98, images_per_s * 1.01};
  r.metrics["step_time_s"] = measured("step_time_s", batch / images_per_s);
  r.metrics["mfu"] = measured("mfu", 0.4567);
  r.metrics["top1_validation"] = measured("top1_validation", 0.125);
  return r;
}

TEST(ResultsTable, GroupsByWorkloadAndPrecision) {
  std::vector<Record> records = {gpt_record("a", 1, 105.25), gpt_record("b", 2, 208.5), resnet_record("c", 4, 8.123),
                                 resnet_record("d", 16, 9.5)};
  records[1].flags = {{"not_settled", "x"}, {"busy_host", "y"}};
  expect_golden("table_groups.txt", results_table(records));
}

TEST(ResultsTable, SaysWhatDidNotRunAndWhy) {
  std::vector<Record> records = {gpt_record("a", 1, 105.25),
                                 without_result("b", 3, Status::skipped, "global batch 3 is no multiple of micro-batch 2"),
                                 without_result("c", 512, Status::oom, "the arena needs 92 GB"), gpt_record("d", 4, 1)};
  records[3].status = Status::invalid;
  records[3].status_reason = "the loss rises";
  for (const char* name : {"tokens_per_s", "step_time_s", "model_tflops_per_device", "mfu"})
    records[3].metrics[name] = unavailable(name, "withheld: the loss rises");
  expect_golden("table_failures.txt", results_table(records));
}

TEST(ResultsTable, RepeatsStandTogetherAndOtherAxesHaveColumns) {
  std::vector<Record> records;
  for (int repeat : {0, 1})
    for (int sequence : {128, 256}) {
      Record r = gpt_record(std::to_string(records.size()), 2, 100 + sequence + repeat);
      r.spec["workload"]["sequence"] = sequence;
      r.spec["repeat_index"] = repeat;
      r.spec_hash = std::to_string(sequence);
      r.coordinates = {{"workload.sequence", std::to_string(sequence)}, {"workload.global_batch", "2"}};
      records.push_back(r);
    }
  expect_golden("table_axes.txt", results_table(records));
}

TEST(ResultsTable, NothingIsNothing) { EXPECT_EQ(results_table({}), ""); }

TEST(ShowRecord, TellsEverything) {
  Record r = gpt_record("20261130T100000.000Z-host-0a1b2c", 4, 1234.5);
  r.sweep_id = "20261130T095900.000Z-host-ffffff";
  r.coordinates = {{"workload.global_batch", "4"}};
  r.plan["accumulation"] = 1;
  r.plan["flops_per_step"] = 8.2e11;
  r.spec["workload"]["data"] = "ergometer-data/text";
  r.phases["warmup_steps"] = 5;
  r.flags = {{"busy_host", "other processes used 12 % of this run's 2 CPUs"}};
  r.check["reference"] = {10.9, 10.8, 10.7};
  r.environment["host"] = {
      {"name", "node1"}, {"distribution", "Debian GNU/Linux 12"}, {"kernel", "Linux 6.1 x86_64"}, {"virtual_machine", "no"}};
  r.environment["cpu"] = {{"model", "AMD EPYC 9R14"}, {"sockets", 1}, {"cores", 96}, {"threads", 192}, {"governor", "performance"}};
  r.environment["memory"] = {{"total_bytes", 405e9}};
  r.environment["binary"] = {{"version", "0.1.0"},
                             {"git_revision", "0123456789abcdef0123456789abcdef01234567"},
                             {"git_dirty", "true"},
                             {"build_type", "Release"},
                             {"compiler", "GNU 12.2.0"}};
  expect_golden("show.txt", show_record(r));
}

// A change that may go either way has no relative half-width.
TEST(ShowRecord, AnIntervalAroundZeroIsARange) {
  Record r = gpt_record("a", 1, 100);
  r.metrics["step_time_drift"] = measured("step_time_drift", -0.02);
  r.metrics["step_time_drift"].ci95 = {-0.09, 0.04};
  EXPECT_THAT(show_record(r), testing::HasSubstr("(-0.0900 to 0.0400)"));
}

TEST(ShowRecord, AFailedChildShowsItsLastWords) {
  Record r = without_result("a", 1, Status::failed, "the run was ended by signal 11 (Segmentation fault)");
  r.tail = "about to fall over";
  EXPECT_THAT(show_record(r),
              testing::AllOf(testing::HasSubstr("FAILED: the run was ended by signal 11"), testing::HasSubstr("about to fall over")));
}

Record profiled(bool probed) {
  Record r = gpt_record("a", 1, 1);
  const auto row = [&](const char* work, const char* site, double time, int calls, double flops, double bytes, double limit) {
    const auto rate = [&](double x) { return x > 0 ? Json(x / time) : Json(nullptr); };
    return Json{{"work", work},
                {"site", site},
                {"time_s", time},
                {"share", time / 0.1},
                {"calls", calls},
                {"flops", flops},
                {"bytes", bytes},
                {"flops_per_s", rate(flops)},
                {"bytes_per_s", rate(bytes)},
                {"limit_s", probed && limit > 0 ? Json(limit) : Json(nullptr)}};
  };
  r.profile = {{"steps", 5},
               {"step_time_s", 0.1},
               {"window_step_time_s", 0.0998},
               {"peak_flops", probed ? Json(1e12) : Json(nullptr)},
               {"peak_bytes_per_s", probed ? Json(50e9) : Json(nullptr)},
               {"no_peak", probed ? "" : "this machine has not been probed"},
               {"limit_s", probed ? Json(0.07) : Json(nullptr)},
               {"rows",
                {row("GEMM forward", "qkv", 0.06, 12, 48e9, 0.3e9, 0.048), row("optimizer", "", 0.0395, 1, 0, 1.1e9, 0.022),
                 row("other", "", 0.0005, 0, 0, 0, 0)}}};
  return r;
}

TEST(ProfileTable, HoldsEachKindOfWorkAgainstThePeaks) { expect_golden("profile.txt", profile_table(profiled(true))); }
TEST(ProfileTable, SaysWhyThereAreNoPeaks) { expect_golden("profile_no_probe.txt", profile_table(profiled(false))); }
TEST(ProfileTable, IsEmptyWhereNoneWasAskedFor) { EXPECT_EQ(profile_table(gpt_record("a", 1, 1)), ""); }

}  // namespace
}  // namespace erg
