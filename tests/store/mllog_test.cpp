// MLLOG lines as MLCommons' parser wants them (mlcommons/logging, mlp_parser): the token, then JSON with a numeric time_ms, key, value and
// metadata.
#include <gmock/gmock.h>

#include <sstream>

#include "sample_records.hpp"
#include "store/export.hpp"

namespace erg {
namespace {

using testing::ElementsAre;

std::vector<Json> events(const std::vector<Record>& records) {
  std::vector<Json> all;
  std::istringstream lines(to_mllog(records));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_TRUE(line.starts_with(":::MLLOG {")) << line;
    all.push_back(Json::parse(line.substr(9)));
  }
  return all;
}

const Json& event(const std::vector<Json>& all, const std::string& key) {
  for (const Json& e : all)
    if (e["key"] == key) return e;
  static const Json none;
  return none;
}

std::vector<std::string> intervals(const std::vector<Json>& all) {
  std::vector<std::string> keys;
  for (const Json& e : all)
    if (e["event_type"] != "POINT_IN_TIME") keys.push_back(e["key"]);
  return keys;
}

Record trained() {
  Record r = test::gpt_record("a", 4, 1234.5);
  r.spec["workload"].update({{"seed", 7}, {"learning_rate", 6e-4}, {"beta1", 0.9}, {"clip", 1.0}, {"weight_decay", 0.1}});
  r.spec["labels"] = {{"submission_org", "us"}};
  r.plan["accumulation"] = 2;
  r.phases["measure_steps"] = 40;
  r.phases["validation_s"] = 0.25;
  return r;
}

TEST(Mllog, TellsTheRunInItsOrder) {
  const auto all = events({trained()});
  EXPECT_THAT(intervals(all),
              ElementsAre("init_start", "init_stop", "run_start", "block_start", "block_stop", "eval_start", "eval_stop", "run_stop"));
  EXPECT_EQ(event(all, "run_stop")["metadata"]["status"], "success");
  EXPECT_EQ(event(all, "global_batch_size")["value"], 4);
  EXPECT_EQ(event(all, "seed")["value"], 7);
  EXPECT_EQ(event(all, "opt_name")["value"], "adamw");
  EXPECT_EQ(event(all, "opt_adamw_beta_1")["value"], 0.9);
  EXPECT_EQ(event(all, "gradient_accumulation_steps")["value"], 2);
  EXPECT_EQ(event(all, "submission_benchmark")["value"], "gpt-117m");
  EXPECT_EQ(event(all, "submission_org")["value"], "us");
  EXPECT_EQ(event(all, "submission_platform")["value"], "1xAMD EPYC 9R14");
  EXPECT_EQ(event(all, "eval_accuracy")["value"], 7.4);
  EXPECT_EQ(event(all, "tracked_stats")["value"]["throughput"], 1234.5);
  for (const Json& e : all) {
    EXPECT_TRUE(e["time_ms"].is_number_integer());
    EXPECT_TRUE(e["metadata"].contains("file") && e["metadata"].contains("lineno"));
  }
}

// 2026-11-30T10:00:00Z is 1796032800 s after 1970 (date -u -d 2026-11-30T10:00:00Z +%s).
TEST(Mllog, TimesFollowThePhases) {
  const auto all = events({trained()});
  EXPECT_EQ(event(all, "init_start")["time_ms"], 1796032800000);
  EXPECT_EQ(event(all, "init_stop")["time_ms"], 1796032802000);    // init 1.2 s, check 0.8 s
  EXPECT_EQ(event(all, "block_start")["time_ms"], 1796032808500);  // warm-up 2.5 s, settling 4.0 s
  EXPECT_EQ(event(all, "block_stop")["time_ms"], 1796032818900);
  EXPECT_EQ(event(all, "eval_stop")["time_ms"], 1796032819150);
}

TEST(Mllog, SaysOnlyWhatIsKnown) {
  Record r = trained();
  r.spec.erase("labels");
  r.environment = nullptr;
  r.plan = nullptr;
  r.phases = {{"init_s", 1.0}};
  r.metrics.clear();
  r.status = Status::failed;
  const auto all = events({r});
  EXPECT_THAT(intervals(all), ElementsAre("init_start", "init_stop", "run_start", "run_stop"));
  EXPECT_EQ(event(all, "run_stop")["metadata"]["status"], "aborted");
  for (const char* unknown : {"submission_org", "submission_platform", "gradient_accumulation_steps", "eval_accuracy", "tracked_stats"})
    EXPECT_TRUE(event(all, unknown).is_null()) << unknown;
}

TEST(Mllog, ResNetHasSgdAndAccuracy) {
  Record r = trained();
  r.spec["workload"] = {{"kind", "resnet50"}, {"preset", "resnet50"}, {"global_batch", 4}, {"weight_decay", 1e-4}};
  r.metrics["top1_validation"] = measured("top1_validation", 0.25);
  const auto all = events({r});
  EXPECT_EQ(event(all, "submission_benchmark")["value"], "resnet");
  EXPECT_EQ(event(all, "opt_name")["value"], "sgd");
  EXPECT_EQ(event(all, "opt_weight_decay")["value"], 1e-4);
  EXPECT_EQ(event(all, "eval_accuracy")["value"], 0.25);
  EXPECT_TRUE(event(all, "opt_adamw_weight_decay").is_null());
}

TEST(Mllog, WhatDidNotRunHasNoEvents) {
  Record skipped = trained(), running = trained();
  skipped.status = Status::skipped;
  running.status = Status::running;
  EXPECT_EQ(to_mllog({skipped, running}), "");
}

}  // namespace
}  // namespace erg
