// A record survives the way to JSON and back, and a bad one says what is wrong with it.
#include "store/record.hpp"

#include <gmock/gmock.h>

#include "core/error.hpp"
#include "sample_records.hpp"

namespace erg {
namespace {

std::string error_of(const Json& json) {
  try {
    record_from_json(json);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::usage);
    return e.what();
  }
  return "no error";
}

TEST(Record, BytesThatAreNotUtf8DoNotLoseIt) {
  Record r = test::gpt_record("run-1", 4, 1000);
  r.tail = "half a character: \xc2";
  EXPECT_NE(json_text(to_json(r)).find("half a character: \xef\xbf\xbd"), std::string::npos);
}

TEST(Record, SurvivesJson) {
  Record r = test::gpt_record("run-1", 4, 1000);
  r.sweep_id = "sweep-1";
  r.coordinates = {{"workload.global_batch", "4"}, {"devices", "1"}};
  r.flags = {{"not_settled", "block medians differ by 3 %"}};
  r.tail = "last words";
  r.error_kind = "failed";
  const Json json = to_json(r);
  const Record back = record_from_json(Json::parse(json.dump()));
  EXPECT_EQ(to_json(back), json);
  EXPECT_EQ(back.coordinates, r.coordinates);
  EXPECT_EQ(back.metrics.at("tokens_per_s").ci95, r.metrics.at("tokens_per_s").ci95);
  EXPECT_EQ(back.metrics.at("tokens_per_s").n, 20);
}

TEST(Record, HasTheDocumentedShape) {
  const Json json = to_json(test::gpt_record("run-1", 4, 1000));
  EXPECT_EQ(json.at("schema_version"), 1);
  EXPECT_EQ(json.at("status"), "PASSED");
  for (const char* key : {"id", "spec", "plan", "environment", "metrics", "energy", "phases", "flags", "repro"})
    EXPECT_TRUE(json.contains(key)) << key;
  const Json& speed = json.at("metrics").at("tokens_per_s");
  EXPECT_EQ(speed.at("unit"), "1/s");
  EXPECT_EQ(speed.at("better"), "higher");
  EXPECT_EQ(speed.at("ci95").size(), 2u);
  EXPECT_FALSE(json.contains("step_times"));
}

TEST(Record, UnavailableIsNullWithItsReason) {
  const Json mfu = to_json(test::gpt_record("run-1", 4, 1000)).at("metrics").at("mfu");
  EXPECT_TRUE(mfu.at("value").is_null());
  EXPECT_THAT(mfu.at("reason").get<std::string>(), testing::HasSubstr("AMD EPYC 9R14"));
}

TEST(Record, StatusNamesGoBothWays) {
  for (Status s : {Status::running, Status::passed, Status::failed, Status::invalid, Status::oom, Status::skipped, Status::timeout,
                   Status::interrupted})
    EXPECT_EQ(status_from(name_of(s)), s);
  EXPECT_THROW(status_from("GREAT"), Error);
}

TEST(Record, BadOnesNameTheField) {
  Json json = to_json(test::gpt_record("run-1", 4, 1000));
  EXPECT_THAT(error_of(Json::array()), testing::HasSubstr("not an object"));
  Json no_id = json;
  no_id.erase("id");
  EXPECT_THAT(error_of(no_id), testing::HasSubstr("\"id\""));
  Json odd_metric = json;
  odd_metric["metrics"]["mfu"]["value"] = "fast";
  EXPECT_THAT(error_of(odd_metric), testing::AllOf(testing::HasSubstr("mfu"), testing::HasSubstr("\"value\"")));
  Json newer = json;
  newer["schema_version"] = 2;
  EXPECT_THAT(error_of(newer), testing::HasSubstr("newer ergometer"));
}

// Found by fuzz/record_fuzz: a number that its type does not hold was converted all the same, which is undefined.
TEST(Record, NumbersThatDoNotFitAreErrors) {
  for (const char* version : {"-1e93", "1.5", "4294967297", "18446744073709551615"}) {
    try {
      record_from_json(Json::parse(std::string(R"({"id": "run", "status": "PASSED", "schema_version": )") + version + "}"));
      FAIL() << version << " was taken";
    } catch (const Error& e) { EXPECT_NE(e.message().find("has a bad \"schema_version\""), std::string::npos) << e.message(); }
  }
  EXPECT_THROW(record_from_json(Json::parse(R"({"id": "run", "status": "PASSED", "schema_version": 1,
    "metrics": {"x": {"value": 1, "n": 1e300}}})")),
               Error);
}

}  // namespace
}  // namespace erg
