// The main path through the real binary: data made by its own commands, both networks trained on it on the CPU engine.
#include <gmock/gmock.h>

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
  expect_trained(
      ergometer.json(Words{"run", "resnet-tiny", "--device", "cpu"} + setting({"data=" + folder, "classes=4", "global_batch=8"}) + brief));
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

}  // namespace
}  // namespace erg
