// `ergometer run` with the real binary: what it prints, stores and returns.
#include <gmock/gmock.h>

#include <fstream>

#include "program.hpp"

namespace erg {
namespace {

using namespace test;
using testing::HasSubstr;
using Words = std::vector<std::string>;

const Words tiny = Words{"run", "gpt-tiny", "--device", "ref"} + brief;

TEST(Run, TrainsStoresAndPrints) {
  Program ergometer;
  const ChildResult r = ergometer(tiny + Words{"--label", "who=test"});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, testing::AllOf(HasSubstr("gpt-tiny"), HasSubstr("tokens/s"), HasSubstr("PASSED"), HasSubstr("MFU n/a: "),
                                    HasSubstr("energy n/a: rapl")));
  EXPECT_THAT(r.err, HasSubstr("stored as "));
  const auto records = ergometer.records();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].at("spec").at("labels").at("who"), "test");
}

TEST(Run, JsonIsTheRecordAndNothingElse) {
  Program ergometer;
  const auto record = ergometer.json(tiny);
  EXPECT_EQ(record.at("schema_version"), 1);
  EXPECT_EQ(record.at("status"), "PASSED") << record.at("status_reason");
  const auto& metrics = record.at("metrics");
  const double rate = metrics.at("tokens_per_s").at("value"), seconds = record.at("phases").at("measure_s"),
               steps = record.at("phases").at("measure_steps");
  EXPECT_GT(rate, 0);
  const double tokens = record.at("plan").at("samples_per_step");
  EXPECT_NEAR(rate * seconds / (steps * tokens), 1, 1e-9);  // samples of the whole window / its time
  EXPECT_LE(metrics.at("tokens_per_s").at("ci95")[0], rate);
  EXPECT_GE(metrics.at("tokens_per_s").at("ci95")[1], rate);
  for (const char* name : {"step_time_p5_s", "step_time_p95_s", "model_tflops_per_device", "device_utilization", "device_memory_used_bytes",
                           "peak_memory_bytes", "peak_rss_bytes", "predicted_memory_bytes", "loss_first", "loss_last", "loss_validation",
                           "top1_validation", "data_wait_s"})
    EXPECT_TRUE(metrics.at(name).at("value").is_number()) << name << ": " << metrics.at(name);
  for (const char* name : {"mfu_probe", "energy_j", "mean_power_w", "energy_wh_per_device", "tokens_per_wh", "exposed_comm_s"}) {
    EXPECT_TRUE(metrics.at(name).at("value").is_null()) << name;
    EXPECT_NE(metrics.at(name).at("reason"), "") << name;
  }
  EXPECT_LT(metrics.at("loss_last").at("value"), metrics.at("loss_first").at("value"));
  for (const char* phase : {"init_s", "check_s", "warmup_s", "settle_s", "measure_s", "validation_s"})
    EXPECT_TRUE(record.at("phases").at(phase).is_number()) << phase;
  EXPECT_EQ(record.at("energy").at("domains").size(), 0u);
  EXPECT_EQ(record.at("energy").at("not_included").size(), 2u);
  EXPECT_EQ(record.at("environment").at("engine").at("name"), "ref");
}

TEST(Run, TheReproLineReallyRepeatsIt) {
  Program ergometer;
  const auto record = ergometer.json(tiny + Words{"--set", "layers=1", "--set", "name=with 'quotes' and $signs", "--label", "a=b c"});
  ChildOptions shell;
  shell.argv = {"sh", "-c", record.at("repro")};
  shell.environment = {"PATH=" + std::filesystem::path(Program::path()).parent_path().string() + ":/usr/bin:/bin",
                       "ERGOMETER_RESULTS=" + ergometer.results()};
  const ChildResult r = run_child(shell);
  EXPECT_EQ(r.exit_code, 0) << r.err;
  const auto records = ergometer.records();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[1].at("spec_hash"), records[0].at("spec_hash"));
  EXPECT_EQ(records[1].at("spec"), records[0].at("spec"));
}

TEST(Run, RepeatsAreProcessesOfOnePoint) {
  Program ergometer;
  const auto runs = ergometer.json(tiny + Words{"--repeat", "2"}).at("runs");
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].at("spec_hash"), runs[1].at("spec_hash"));
  EXPECT_EQ(runs[0].at("sweep_id"), runs[1].at("sweep_id"));
  EXPECT_NE(runs[0].at("process").at("pid"), runs[1].at("process").at("pid"));
  EXPECT_EQ(runs[1].at("spec").at("repeat_index"), 1);
}

TEST(Run, ADivergingLossIsInvalidAndWithheld) {
  Program ergometer;
  const Words hot = tiny + Words{"--set", "learning_rate=50", "--set", "clip=0", "--set", "warmup_steps=0"};
  const ChildResult lenient = ergometer(hot), strict = ergometer(hot + Words{"--strict"});
  EXPECT_EQ(lenient.exit_code, 0) << lenient.err;
  EXPECT_EQ(strict.exit_code, 4) << strict.err;
  const auto records = ergometer.records();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].at("status"), "INVALID");
  EXPECT_TRUE(records[0].at("metrics").at("tokens_per_s").at("value").is_null());
  EXPECT_THAT(records[0].at("metrics").at("tokens_per_s").at("reason").get<std::string>(),
              testing::AnyOf(HasSubstr("withheld: "), HasSubstr("no step was measured")));  // it may diverge before the window
  EXPECT_TRUE(records[0].at("metrics").at("loss_first").at("value").is_number());
}

TEST(Run, SigintFinishesTheStepAndStoresInterrupted) {
  Program ergometer;
  Started run({"run", "gpt-tiny", "--device", "ref"}, ergometer.results());
  ASSERT_TRUE(run.wait_for_line("init"));
  run.signal(SIGINT);
  EXPECT_EQ(run.wait(), 130);
  const auto records = ergometer.records();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].at("status"), "INTERRUPTED");
}

TEST(Run, SigintInTheWindowKeepsItsSteps) {
  Program ergometer;
  Started run(
      {"run", "gpt-tiny", "--device", "ref", "--set", "measure.warmup_min_s=0", "--set", "measure.settle_max_s=0", "--record-id", "x"},
      ergometer.results());
  ASSERT_TRUE(run.wait_for_line("measure"));
  run.signal(SIGINT);
  EXPECT_EQ(run.wait(), 130);
  const auto record = ergometer.json({"show", "x", "--samples"});
  EXPECT_EQ(record.at("status"), "INTERRUPTED");
  EXPECT_EQ(record.at("phases").at("stopped_by"), "interrupted");
  EXPECT_GT(record.at("samples").at("step_times").size(), 0u);
  EXPECT_TRUE(record.at("metrics").at("tokens_per_s").at("value").is_number());
}

TEST(Run, AKilledRunIsShownAsInterrupted) {
  Program ergometer;
  Started run({"run", "gpt-tiny", "--device", "ref"}, ergometer.results());
  ASSERT_TRUE(run.wait_for_line("init"));
  EXPECT_EQ(ergometer.records().at(0).at("status"), "RUNNING");
  run.signal(SIGKILL);
  EXPECT_EQ(run.wait(), -SIGKILL);
  EXPECT_EQ(ergometer.records().at(0).at("status"), "INTERRUPTED");
  EXPECT_EQ(ergometer.records().at(0).at("status_reason"), "process died");
}

TEST(Run, TwoAtOnceInOneFolder) {
  Program ergometer;
  Started a(tiny, ergometer.results()), b(tiny, ergometer.results());
  EXPECT_EQ(a.wait(), 0);
  EXPECT_EQ(b.wait(), 0);
  const auto records = ergometer.records();
  ASSERT_EQ(records.size(), 2u);
  for (const auto& r : records) EXPECT_EQ(r.at("status"), "PASSED");
}

TEST(Run, AMissingDeviceIs77AndAnUnknownOneAUsageError) {
  Program ergometer;
  const ChildResult missing = ergometer({"run", "gpt-tiny", "--device", "cpu:9"}),
                    unknown = ergometer({"run", "gpt-tiny", "--device", "abacus"});
  EXPECT_EQ(missing.exit_code, 77) << missing.err;
  EXPECT_THAT(missing.err, testing::AllOf(HasSubstr("ergometer: error: "), HasSubstr("cpu:9")));
  EXPECT_EQ(unknown.exit_code, 2) << unknown.err;
  EXPECT_THAT(unknown.err, HasSubstr("abacus"));
  for (const auto& r : ergometer.records()) EXPECT_EQ(r.at("status"), "FAILED");
}

TEST(Run, MissingDataIsAUsageError) {
  Program ergometer;
  const ChildResult r = ergometer(tiny + Words{"--set", "data=/no/such/folder"});
  EXPECT_EQ(r.exit_code, 2) << r.err;
  EXPECT_THAT(r.err, HasSubstr("/no/such/folder"));
}

}  // namespace
}  // namespace erg
