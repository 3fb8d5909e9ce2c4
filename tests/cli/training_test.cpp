// The main path through the real binary: data made by its own commands, both networks trained on it on the CPU engine.
#include <gmock/gmock.h>

#include <fstream>
#include <set>

#include "program.hpp"

namespace erg {
namespace {

using namespace test;
using Words = std::vector<std::string>;

Words setting(const std::vector<std::string>& keys) {
  Words words;
  for (const std::string& key : keys) words.insert(words.end(), {"--set", key});
  return words;
}

void expect_trained(const nlohmann::json& record) {
  EXPECT_EQ(record.at("status"), "PASSED") << record.at("status_reason");
  EXPECT_EQ(record.at("environment").at("engine").at("name"), "cpu");
  const auto& metrics = record.at("metrics");
  EXPECT_LT(metrics.at("loss_last").at("value"), metrics.at("loss_first").at("value"));
  for (const char* name : {"data_wait_s", "loss_validation", "top1_validation"})
    EXPECT_TRUE(metrics.at(name).at("value").is_number()) << name;
}

TEST(Training, GptOnTextFiles) {
  Program ergometer;
  const std::string folder = (ergometer.folder() / "text").string();
  const Words make = {"data", "tokens", ERG_SOURCE_DIR "/LICENSE", "--vocabulary", "400", "--out", folder};
  EXPECT_EQ(ergometer.json(make).at("up_to_date"), false);
  EXPECT_EQ(ergometer.json(make).at("up_to_date"), true);
  expect_trained(ergometer.json(Words{"run", "gpt-tiny", "--device", "cpu"} +
                                setting({"data=" + folder, "vocabulary=400", "global_batch=4"}) + brief));
}

TEST(Training, ResNetOnJpegFiles) {
  Program ergometer;
  const std::string folder = (ergometer.folder() / "images").string();
  const Words make = {"data", "images", "--classes", "4", "--per-class", "8", "--size", "64x48", "--out", folder};
  EXPECT_EQ(ergometer.json(make).at("up_to_date"), false);
  EXPECT_EQ(ergometer.json(make).at("up_to_date"), true);
  const Words enough = setting({"measure.max_time_s=30", "measure.min_time_s=0.5"});  // that a busy machine too takes steps that learn
  expect_trained(ergometer.json(Words{"run", "resnet-tiny", "--device", "cpu"} +
                                setting({"data=" + folder, "classes=4", "global_batch=8"}) + brief + enough));
}

// Both files of a profile: the record's rows, which sum to the step, and a trace that Chrome can read.
TEST(Training, ProfileSumsToTheStep) {
  Program ergometer;
  const auto record = ergometer.json(Words{"run", "resnet-tiny", "--device", "cpu", "--profile"} + setting({"global_batch=8"}) + brief);
  const auto& profile = record.at("profile");
  double sum = 0;
  std::set<std::string> work;
  for (const auto& row : profile.at("rows")) {
    sum += row.at("time_s").get<double>();
    EXPECT_GE(row.at("time_s").get<double>(), 0) << row.at("work");  // `other` is the rest: negative where time is counted twice
    if (row.at("work") == "other") {
      EXPECT_LT(row.at("share").get<double>(), 0.25);  // of steps of milliseconds; where everything has a name it is a few percent
    }
    work.insert(row.at("work").get<std::string>());
  }
  EXPECT_NEAR(sum / profile.at("step_time_s").get<double>(), 1, 0.02);
  for (const char* kind : {"convolution forward", "convolution input gradient", "convolution weight gradient", "batch norm forward",
                           "batch norm backward", "classifier loss", "optimizer", "data", "other"})
    EXPECT_TRUE(work.count(kind)) << kind;
  std::ifstream file(std::filesystem::path(ergometer.results()) / record.at("id").get<std::string>() / "trace.json");
  EXPECT_GT(nlohmann::json::parse(file).at("traceEvents").size(), 20u);
  const ChildResult shown = ergometer(Words{"show", record.at("id").get<std::string>()});
  EXPECT_THAT(shown.out, testing::HasSubstr("convolution weight gradient"));
}

TEST(Training, AProfileIsOfOneRun) {
  Program ergometer;
  const ChildResult r = ergometer(Words{"run", "gpt-tiny", "--device", "ref", "--profile", "--repeat", "2"} + brief);
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_THAT(r.err, testing::HasSubstr("--profile"));
}

// The head of 16 million words asks for hundreds of gigabytes at once: the point is a cell that says OOM, not a crash.
TEST(Training, WhatDoesNotFitIsOutOfMemory) {
  Program ergometer;
  const ChildResult r = ergometer(Words{"run", "gpt-tiny", "--device", "cpu"} +
                                  setting({"vocabulary=16777216", "hidden=4096", "measure.check=false"}) + brief);
  EXPECT_EQ(r.exit_code, 1) << r.err;
  const auto records = ergometer.records();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].at("status"), "OOM") << records[0].at("status_reason");
}

// Whatever is refused first, a thread, a library's scratch or our own buffer: the run ends with a record that says so.
TEST(Training, UnderAMemoryLimitItPassesOrSaysWhatWasRefused) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers reserve terabytes of address space";
#endif
  std::set<std::string> seen;
  for (const char* preset : {"gpt-tiny", "resnet-tiny"})
    for (const int kilobytes : {60'000, 75'000, 80'000, 100'000, 145'000, 160'000, 180'000, 400'000}) {
      Program ergometer;
      ChildOptions child;
      child.argv = {"sh", "-c", "ulimit -v " + std::to_string(kilobytes) + "; exec \"$0\" \"$@\"", Program::path()};
      child.argv = child.argv + (Words{"run", preset, "--results", ergometer.results()} + setting({"validation_steps=1"}) + brief);
      const ChildResult r = run_child(child);
      const auto records = ergometer.records();
      ASSERT_EQ(records.size(), 1u) << kilobytes << r.err;
      const std::string status = records[0].at("status"), reason = records[0].at("status_reason");
      seen.insert(status);
      EXPECT_EQ(r.exit_code, status == "PASSED" ? 0 : reason.find("does not load") != reason.npos ? 77 : 1) << kilobytes << reason;
      EXPECT_TRUE(status == "PASSED" || status == "OOM" || reason.find("cannot start") != reason.npos ||
                  reason.find("does not load") != reason.npos)
          << preset << " within " << kilobytes << " kB: " << status << ", " << reason;
    }
  EXPECT_TRUE(seen.count("PASSED") && seen.count("OOM")) << "the limits tried do not span what is needed";
}

}  // namespace
}  // namespace erg
