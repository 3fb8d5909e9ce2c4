// Points paired, partners missed, machines told apart; the printed output against tests/golden (see table_test.cpp).
#include "report/compare.hpp"

#include <gmock/gmock.h>

#include "../store/sample_records.hpp"
#include "golden.hpp"

namespace erg {
namespace {

using test::expect_golden;
using test::gpt_record;
using testing::HasSubstr;

// Launches of one point, told apart by their batch: their hash is made of it.
void add_launches(std::vector<Record>& to, int batch, const std::vector<double>& rates) {
  for (const double rate : rates) {
    Record r = gpt_record("run" + std::to_string(to.size()), batch, rate);
    r.spec_hash = "hash" + std::to_string(batch);
    r.coordinates = {{"workload.global_batch", std::to_string(batch)}};
    to.push_back(r);
  }
}

Record lost(int batch, Status status, const std::string& reason) {
  std::vector<Record> one;
  add_launches(one, batch, {1});
  one[0].status = status;
  one[0].status_reason = reason;
  one[0].metrics.clear();
  return one[0];
}

const ComparedPoint& point(const Comparison& c, const std::string& title) {
  for (const ComparedPoint& p : c.points)
    if (p.title.find(title) != std::string::npos) return p;
  throw std::runtime_error("no point " + title);
}

TEST(Compare, RepeatsOfAPointAreUsedTogether) {
  std::vector<Record> a, b;
  add_launches(a, 1, {100, 101, 102});
  add_launches(b, 1, {110, 111, 112});
  const Comparison c = compare(a, b, 0.01);
  ASSERT_EQ(c.points.size(), 1u);
  ASSERT_EQ(c.points[0].metrics.size(), 1u);
  EXPECT_EQ(c.points[0].metrics[0].launches_b, 3u);
  EXPECT_STREQ(verdict_word(c.points[0].metrics[0]), "FASTER");
  EXPECT_FALSE(has_regression(c));
  EXPECT_TRUE(has_regression(compare(b, a, 0.01)));
  EXPECT_TRUE(c.machine.empty());
}

TEST(Compare, TheSameRunsAreNotDifferent) {
  std::vector<Record> a;
  add_launches(a, 1, {100, 101, 102});
  add_launches(a, 2, {200});
  const Comparison c = compare(a, a, 0.01);
  EXPECT_EQ(c.points.size(), 2u);
  EXPECT_FALSE(has_regression(c));
  EXPECT_TRUE(c.points[0].spec.empty());
}

TEST(Compare, PointsArePairedByPlaceWhereTheSpecsDiffer) {
  std::vector<Record> a, b;
  for (int batch : {1, 2}) add_launches(a, batch, {100.0 * batch, 101.0 * batch}), add_launches(b, batch, {100.0 * batch, 101.0 * batch});
  for (Record& r : b) {
    r.spec["device"] = "cuda:0";
    r.spec_hash += "b";
  }
  const Comparison c = compare(a, b, 0.01);
  ASSERT_EQ(c.points.size(), 2u);
  ASSERT_EQ(c.points[1].spec.size(), 1u);
  EXPECT_EQ(c.points[1].spec[0].key, "device");
  EXPECT_EQ(c.points[1].spec[0].b, "cuda:0");
}

TEST(Compare, OnlyOnePointASideIsPairedInAnyCase) {
  std::vector<Record> a, b;
  add_launches(a, 1, {100, 101});
  add_launches(b, 2, {100, 101});
  EXPECT_EQ(compare(a, b, 0.01).points.size(), 1u);
  add_launches(a, 4, {100, 101});
  EXPECT_EQ(compare(a, b, 0.01).points.size(), 3u);  // batch 1 or 4 against batch 2? Nobody asked that
}

TEST(Compare, WhatIsLostIsARegression) {
  for (const Status status : {Status::failed, Status::invalid, Status::oom, Status::timeout}) {
    std::vector<Record> a, b;
    add_launches(a, 1, {100, 101, 102});
    b = {lost(1, status, "why")};
    Comparison c = compare(a, b, 0.01);
    EXPECT_TRUE(c.points[0].regression) << name_of(status);
    EXPECT_TRUE(c.points[0].metrics.empty());
    EXPECT_THAT(c.points[0].notes, testing::Contains(HasSubstr("why")));
    EXPECT_FALSE(has_regression(compare(b, a, 0.01)));  // it works now
    EXPECT_FALSE(has_regression(compare(b, b, 0.01)));  // it never worked
    add_launches(b, 1, {100, 101, 102});                // one of four fails where none did
    EXPECT_TRUE(has_regression(compare(a, b, 0.01)));
  }
  std::vector<Record> a, b;
  add_launches(a, 1, {100});
  add_launches(a, 2, {100});
  add_launches(b, 1, {100});
  const Comparison c = compare(a, b, 0.01);
  EXPECT_EQ(point(c, "batch 2").status_b, "missing");
  EXPECT_TRUE(point(c, "batch 2").regression);
  EXPECT_EQ(point(compare(b, a, 0.01), "batch 2").status_a, "missing");
  EXPECT_FALSE(has_regression(compare(b, a, 0.01)));
}

// A withheld or interrupted score must not be read as one.
TEST(Compare, OnlyPassedLaunchesCount) {
  std::vector<Record> a, b;
  add_launches(a, 1, {100, 101, 102});
  add_launches(b, 1, {100, 101, 500});
  b[2].status = Status::interrupted;
  EXPECT_EQ(compare(a, b, 0.01).points[0].metrics[0].launches_b, 2u);
}

TEST(Compare, EnergyIsJudgedInItsOwnWords) {
  std::vector<Record> a, b;
  add_launches(a, 1, {100, 101, 102});
  add_launches(b, 1, {100, 101, 102});
  for (size_t i = 0; i < 3; ++i) {
    a[i].metrics["tokens_per_wh"] = measured("tokens_per_wh", 5000 + double(i));
    b[i].metrics["tokens_per_wh"] = measured("tokens_per_wh", 4000 + double(i));
  }
  const Comparison c = compare(a, b, 0.01);
  ASSERT_EQ(c.points[0].metrics.size(), 2u);
  EXPECT_STREQ(verdict_word(c.points[0].metrics[1]), "WORSE");
  EXPECT_TRUE(has_regression(c));
  EXPECT_STREQ(verdict_word(compare(b, a, 0.01).points[0].metrics[1]), "BETTER");
}

TEST(Compare, PassingFactsAreNoDifference) {
  std::vector<Record> a, b;
  add_launches(a, 1, {100});
  add_launches(b, 1, {100});
  a[0].environment["host"] = {{"load", {0.1}}, {"name", "x"}};
  b[0].environment["host"] = {{"load", {9.1}}, {"name", "x"}};
  EXPECT_TRUE(compare(a, b, 0.01).machine.empty());
  b[0].environment["host"]["name"] = "y";
  ASSERT_EQ(compare(a, b, 0.01).machine.size(), 1u);
}

struct Sweeps {
  std::vector<Record> a, b;
  Sweeps() {
    add_launches(a, 1, {100, 101, 102});
    add_launches(a, 2, {200, 201, 202});
    add_launches(a, 4, {400});
    add_launches(a, 8, {800, 801, 802});
    a.push_back(lost(16, Status::skipped, "global batch 16 is no multiple of 3"));
    add_launches(b, 1, {110, 111, 112});
    add_launches(b, 2, {150, 151, 152});
    add_launches(b, 4, {420});
    b.push_back(lost(8, Status::oom, "the arena needs 92 GB"));
    b.push_back(lost(16, Status::skipped, "global batch 16 is no multiple of 3"));
    add_launches(b, 32, {3000});
    for (Record& r : b) r.environment["engine"]["device"] = "AMD EPYC 9654";
    b[0].flags = {{"busy_host", ""}};
  }
};

TEST(Compare, Golden) {
  const Sweeps s;
  expect_golden("compare.txt", comparison_text(compare(s.a, s.b, 0.01)));
}

TEST(Compare, JsonSaysTheSame) {
  const Sweeps s;
  const Json j = comparison_json(compare(s.a, s.b, 0.02));
  EXPECT_EQ(j["schema_version"], 1);
  EXPECT_EQ(j["threshold"], 0.02);
  EXPECT_EQ(j["regression"], true);
  ASSERT_EQ(j["points"].size(), 6u);
  EXPECT_EQ(j["points"][0]["metrics"][0]["verdict"], "FASTER");
  EXPECT_EQ(j["points"][1]["metrics"][0]["verdict"], "SLOWER");
  EXPECT_EQ(j["points"][2]["metrics"][0]["verdict"], "UNCLEAR");
  EXPECT_TRUE(j["points"][2]["metrics"][0]["change_ci95"].is_null());
  EXPECT_EQ(j["points"][3]["status_b"], "1 OOM");
  EXPECT_EQ(j["environment_differences"][0]["key"], "engine.device");
}

}  // namespace
}  // namespace erg
