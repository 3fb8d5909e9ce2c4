// Sweeps that are killed at any moment: nothing stored is lost, nothing keeps running, and resume completes them.
#include <gmock/gmock.h>

#include <random>

#include "core/clock.hpp"
#include "core/file.hpp"
#include "faults.hpp"
#include "store/store.hpp"

namespace erg {
namespace {

using namespace test;
using testing::HasSubstr;

const Words short_steps = {"--set", "measure.warmup_min_s=0", "--set", "measure.settle_max_s=0", "--set", "measure.duration_s=0.15"};
const Words endless = {"--set", "measure.duration_s=1000"};

TEST(Resume, CompletesASweepWhoseProcessWasKilled) {
  Program ergometer;
  Started sweep(Words{"sweep", "gpt-tiny", "--device", "ref", "--axis", "measure.duration_s=0.1,1000", "--set", "measure.warmup_min_s=0",
                      "--set", "measure.settle_max_s=0", "--label", "who=test"},
                ergometer.results());
  wait_for_child(ergometer, "-0002");
  sweep.signal(SIGKILL);
  sweep.wait();
  EXPECT_TRUE(survivors(ergometer.results()).empty());
  const auto before = record_texts(ergometer.results());
  ASSERT_EQ(before.size(), 2u);
  const ChildResult plan = ergometer({"resume", "--dry-run"});
  EXPECT_THAT(plan.out, testing::AllOf(HasSubstr("leave it"), HasSubstr("run it")));
  EXPECT_EQ(record_texts(ergometer.results()), before);

  Started resumed({"resume"}, ergometer.results());
  wait_for_child(ergometer, "-0002.2");
  resumed.signal(SIGINT);
  EXPECT_EQ(resumed.wait(), 130);
  const auto after = record_texts(ergometer.results());
  ASSERT_EQ(after.size(), 3u);  // the second point's second attempt; the killed one stays as it was
  for (const auto& [id, text] : before) EXPECT_EQ(after.at(id), text);
  for (const auto& r : ergometer.json({"list", "--label", "who=test"}).at("runs")) EXPECT_EQ(r.at("spec").at("labels").at("who"), "test");
  EXPECT_EQ(ergometer.json({"list", "--label", "who=test"}).at("runs").size(), 3u);
  EXPECT_TRUE(ergometer.json({"list", "--label", "who=else"}).at("runs").empty());
}

TEST(Resume, LeavesWhatIsFinishedAndRetriesFailuresWhenAsked) {
  Program ergometer;
  Started sweep(Words{"sweep", "gpt-tiny", "--device", "ref", "--axis", "global_batch=1,2"} + endless, ergometer.results());
  ASSERT_EQ(::kill(wait_for_child(ergometer, "-0001"), SIGSEGV), 0);
  ASSERT_EQ(::kill(wait_for_child(ergometer, "-0002"), SIGSEGV), 0);
  EXPECT_EQ(sweep.wait(), 1);
  const auto before = record_texts(ergometer.results());
  EXPECT_EQ(ergometer({"resume"}).exit_code, 1);  // both failed, and are left so
  EXPECT_EQ(record_texts(ergometer.results()), before);
  Started again({"resume", "--retry-failed", "--max-failures", "1"}, ergometer.results());
  ASSERT_EQ(::kill(wait_for_child(ergometer, "-0001.2"), SIGSEGV), 0);
  EXPECT_EQ(again.wait(), 1);
  EXPECT_EQ(record_texts(ergometer.results()).size(), 3u);  // one more failure, and nothing after it
}

TEST(Resume, TwoAtOnceRunEveryPointOnce) {
  Program ergometer;
  Started sweep(Words{"sweep", "gpt-tiny", "--device", "ref", "--axis", "global_batch=1,2,3,4"} + endless, ergometer.results());
  ASSERT_TRUE(sweep.wait_for_line("1/4"));
  sweep.signal(SIGKILL);
  sweep.wait();
  // The stored sweep with windows that end.
  const auto path = std::filesystem::directory_iterator(ergometer.results() + "/sweeps")->path();
  const std::string id = path.stem();
  const Words fresh = Words{"sweep", "gpt-tiny", "--device", "ref", "--axis", "global_batch=1,2,3,4"} + short_steps;
  Started first(fresh, ergometer.results());
  ASSERT_TRUE(first.wait_for_line("1/4"));
  Started second({"resume"}, ergometer.results()), third({"resume"}, ergometer.results());
  EXPECT_EQ(first.wait(), 0);
  EXPECT_EQ(second.wait(), 0);
  EXPECT_EQ(third.wait(), 0);
  const auto records = ergometer.records();
  const std::string newest = records.back().at("sweep_id");
  ASSERT_NE(newest, id);
  const auto passed = passed_by_point(records, newest);
  EXPECT_EQ(passed.size(), 4u);
  for (const auto& [point, times] : passed) EXPECT_EQ(times, 1) << point;
}

TEST(Launcher, StandsBeforeTheChildAndItsRunsEndWithTheSweep) {
  Program ergometer;
  const std::string script = (ergometer.folder() / "launch.sh").string(), log = (ergometer.folder() / "launched").string();
  // As srun does, it starts the run in a session of its own: no process group and no death signal reaches it.
  write_file_atomically(script, "#!/bin/sh\necho \"$1 $2\" >>" + log + "\nshift 2\nsetsid \"$@\" &\nwait $!\n");
  ::chmod(script.c_str(), 0755);
  const Words launcher = {"--launcher", script + " {point} 'on {devices}'"};
  const ChildResult r = ergometer(Words{"sweep", "gpt-tiny", "--device", "ref", "--axis", "global_batch=1,2"} + short_steps + launcher);
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(read_file(log), "1 on 1\n2 on 1\n");
  for (const auto& record : ergometer.records()) EXPECT_EQ(record.at("status"), "PASSED") << record.at("status_reason");

  Started sweep(Words{"sweep", "gpt-tiny", "--device", "ref", "--axis", "global_batch=1,2"} + endless + launcher, ergometer.results());
  ASSERT_TRUE(sweep.wait_for_line("1/2"));
  sweep.signal(SIGKILL);
  sweep.wait();
  EXPECT_TRUE(survivors(ergometer.results()).empty());
}

TEST(Launcher, ThatIsWrongSaysSo) {
  Program ergometer;
  const Words sweep = {"sweep", "gpt-tiny", "--device", "ref", "--axis", "global_batch=1,2"};
  const ChildResult unknown = ergometer(sweep + Words{"--launcher", "srun {nodes}"}),
                    open = ergometer(sweep + Words{"--launcher", "srun 'x"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, testing::AllOf(HasSubstr("{nodes}"), HasSubstr("{devices}")));
  EXPECT_EQ(open.exit_code, 2);
  const ChildResult missing = ergometer(sweep + Words{"--launcher", "/no/such/launcher"});
  EXPECT_EQ(missing.exit_code, 1);
  for (const auto& r : ergometer.records()) EXPECT_THAT(r.at("status_reason").get<std::string>(), HasSubstr("/no/such/launcher"));
}

// SIGINT, SIGTERM and SIGKILL to the sweep or its child, at fifty moments that a seed decides.
TEST(FullKills, FiftyAtAnyMoment) {
  Program ergometer;
  std::mt19937 random(20261201);
  const Words sweep = Words{"sweep", "gpt-tiny", "--device", "ref", "--axis", "global_batch=1,2,3"} + short_steps;
  std::map<std::string, std::string> finished;  // PASSED records, which must never change
  Words command = sweep;
  for (int kill = 0; kill < 50; ++kill) {
    Started program(command, ergometer.results());
    steady_clock().sleep(std::uniform_real_distribution<double>(0, 1.2)(random));
    const int signal = std::vector<int>{SIGINT, SIGTERM, SIGKILL}[random() % 3];
    int target = program.pid();
    if (random() % 2 && std::filesystem::exists(ergometer.results()))
      for (const auto& r : Store(ergometer.results()).list())
        if (r.status == Status::running && r.process.contains("sweep")) target = r.process.at("pid");
    ::kill(target, signal);
    const int code = program.wait();
    EXPECT_TRUE(code == 0 || code == 1 || code == 130 || code == -signal) << code;
    ASSERT_TRUE(survivors(ergometer.results()).empty());
    const auto now = record_texts(ergometer.results());
    for (const auto& [id, text] : finished) ASSERT_EQ(now.at(id), text);
    for (const auto& [id, text] : now) {
      ASSERT_TRUE(nlohmann::json::accept(text)) << id;
      if (nlohmann::json::parse(text).at("status") == "PASSED") finished[id] = text;
    }
    const bool begun =
        std::filesystem::exists(ergometer.results() + "/sweeps") && !std::filesystem::is_empty(ergometer.results() + "/sweeps");
    command = begun && random() % 4 ? Words{"resume", "--retry-failed"} : sweep;
  }
  for (const auto& entry : std::filesystem::directory_iterator(ergometer.results() + "/sweeps")) {
    if (entry.path().filename().native().starts_with('.')) continue;  // aside, when its writer was killed
    const std::string id = entry.path().stem();
    const ChildResult r = ergometer({"resume", id, "--retry-failed"});
    EXPECT_EQ(r.exit_code, 0) << r.err;
    const auto passed = passed_by_point(ergometer.records(), id);
    EXPECT_EQ(passed.size(), 3u);
    for (const auto& [point, times] : passed) EXPECT_EQ(times, 1) << id << point;
  }
}

}  // namespace
}  // namespace erg
