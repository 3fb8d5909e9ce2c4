// `ergometer sweep` with the real binary: points, skipped cells, a child that dies, an interrupt.
#include <gmock/gmock.h>

#include <fstream>

#include "program.hpp"

namespace erg {
namespace {

using namespace test;
using testing::HasSubstr;
using Words = std::vector<std::string>;

const Words endless = {"--set", "measure.duration_s=1000"};

TEST(Sweep, RunsItsPointsAndSkipsWhatDoesNotDivide) {
  Program ergometer;
  const Words sweep = Words{"sweep", "gpt-tiny", "--device", "ref", "--set", "micro_batch=2", "--axis", "global_batch=2,3,4"} + brief;
  const auto runs = ergometer.json(sweep).at("runs");
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].at("status"), "PASSED") << runs[0].at("status_reason");
  EXPECT_EQ(runs[1].at("status"), "SKIPPED");
  EXPECT_NE(runs[1].at("status_reason"), "");
  EXPECT_EQ(runs[2].at("status"), "PASSED") << runs[2].at("status_reason");
  EXPECT_EQ(runs[2].at("coordinates").at("workload.global_batch"), "4");
  EXPECT_EQ(runs[2].at("plan").at("accumulation"), 2);
  for (const auto& r : runs) EXPECT_EQ(r.at("sweep_id"), runs[0].at("sweep_id"));
  EXPECT_NE(runs[0].at("process").at("pid"), runs[2].at("process").at("pid"));
  EXPECT_EQ(ergometer.records().size(), 3u);
  EXPECT_EQ(ergometer.json({"list", "--sweep", runs[0].at("sweep_id")}).at("runs").size(), 3u);
}

TEST(Sweep, PrintsOneTable) {
  Program ergometer;
  std::ofstream(ergometer.folder() / "two.toml") << R"(name = "two workloads"
device = "ref"
[measure]
warmup_min_s = 0
settle_max_s = 0.1
min_time_s = 0.1
max_time_s = 0.3
[[sweep]]
[sweep.workload]
preset = "gpt-tiny"
[sweep.axes]
global_batch = [1, 2]
[[sweep]]
[sweep.workload]
preset = "resnet-tiny"
global_batch = 2
)";
  const ChildResult r = ergometer({"sweep", (ergometer.folder() / "two.toml").string()});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, testing::AllOf(HasSubstr("gpt-tiny"), HasSubstr("resnet-tiny"), HasSubstr("tokens/s"), HasSubstr("images/s")));
  EXPECT_THAT(r.err, HasSubstr("3/3 resnet-tiny"));
}

TEST(Sweep, DryRunRunsNothing) {
  Program ergometer;
  const ChildResult r = ergometer({"sweep", "gpt-tiny", "--set", "micro_batch=2", "--axis", "global_batch=2,3", "--dry-run"});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, testing::AllOf(HasSubstr("workload.global_batch=2"), HasSubstr("SKIPPED")));
  EXPECT_FALSE(std::filesystem::exists(ergometer.results()));
}

TEST(Sweep, AChildThatDiesIsAFailedCellAndTheRestGoesOn) {
  Program ergometer;
  Started sweep(Words{"sweep", "gpt-tiny", "--device", "ref", "--axis", "measure.duration_s=1000,0.1", "--set", "measure.warmup_min_s=0",
                      "--set", "measure.settle_max_s=0"},
                ergometer.results());
  ASSERT_TRUE(sweep.wait_for_line("1/2"));  // its child has reported, so its record is there
  const auto first = ergometer.records().at(0);
  ASSERT_EQ(first.at("status"), "RUNNING");
  ASSERT_EQ(::kill(first.at("process").at("pid"), SIGSEGV), 0);
  EXPECT_EQ(sweep.wait(), 1);
  const auto records = ergometer.records();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].at("status"), "FAILED");
  EXPECT_THAT(records[0].at("status_reason").get<std::string>(), HasSubstr("signal 11"));
  EXPECT_EQ(records[1].at("status"), "PASSED") << records[1].at("status_reason");
}

TEST(Sweep, SigintStopsItCleanly) {
  Program ergometer;
  Started sweep(Words{"sweep", "gpt-tiny", "--device", "ref", "--axis", "global_batch=1,2,4"} + endless, ergometer.results());
  ASSERT_TRUE(sweep.wait_for_line("1/3"));
  sweep.signal(SIGINT);
  EXPECT_EQ(sweep.wait(), 130);
  const auto records = ergometer.records();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].at("status"), "INTERRUPTED");
  EXPECT_EQ(records[0].at("status_reason"), "interrupted by a signal");
}

TEST(Sweep, ChildrenDieWithTheirParent) {
  Program ergometer;
  Started sweep(Words{"sweep", "gpt-tiny", "--device", "ref", "--axis", "global_batch=1,2"} + endless, ergometer.results());
  ASSERT_TRUE(sweep.wait_for_line("1/2"));
  sweep.signal(SIGKILL);
  EXPECT_EQ(sweep.wait(), -SIGKILL);  // stderr has ended, which the child held open too
  EXPECT_EQ(ergometer.records().at(0).at("status_reason"), "process died");
}

}  // namespace
}  // namespace erg
