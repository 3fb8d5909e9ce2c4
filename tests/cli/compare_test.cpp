// `ergometer compare` as people and scripts call it: what A and B may be, exit codes, errors.
#include <gmock/gmock.h>

#include <fstream>

#include "program.hpp"
#include "store/store.hpp"

namespace erg {
namespace {

using namespace test;
using testing::HasSubstr;

// Two sweeps of one point with three launches each, the second 10 % slower, and a second folder with the first one again.
class CompareCommand : public testing::Test {
 protected:
  CompareCommand() {
    for (const auto& [sweep, rate] : {std::pair{"20261130T090000.000Z-node-aaaaaa", 100.0}, {"20261130T100000.000Z-node-bbbbbb", 90.0}})
      for (int i = 0; i < 3; ++i) save(ergometer_.results(), sweep, i, rate);
    for (int i = 0; i < 3; ++i) save(elsewhere(), "20261130T090000.000Z-node-aaaaaa", i, 100.0);
  }
  static void save(const std::string& folder, const std::string& sweep, int i, double rate) {
    Record r = gpt_record(sweep.substr(0, 9) + std::to_string(i) + sweep.substr(10) + "run", 1, rate + 0.1 * i);
    r.sweep_id = sweep;
    Store(folder).save(r);
  }
  std::string elsewhere() const { return (ergometer_.folder() / "elsewhere").string(); }
  Program ergometer_;
};

TEST_F(CompareCommand, SweepsById) {
  const ChildResult r = ergometer_({"compare", "aaaaaa", "20261130T100000.000Z-node-bbbbbb"});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("SLOWER"));
  EXPECT_THAT(r.out, HasSubstr("-10.0 %"));
}

TEST_F(CompareCommand, ARegressionIsAnExitCodeOnlyWhenAskedFor) {
  EXPECT_EQ(ergometer_({"compare", "aaaaaa", "bbbbbb", "--fail-on-regression"}).exit_code, 3);
  EXPECT_EQ(ergometer_({"compare", "bbbbbb", "aaaaaa", "--fail-on-regression"}).exit_code, 0);
  EXPECT_EQ(ergometer_({"compare", "aaaaaa", "bbbbbb", "--fail-on-regression", "--threshold", "20"}).exit_code, 0);
  const ChildResult json = ergometer_({"compare", "aaaaaa", "bbbbbb", "--fail-on-regression", "--json", "-"});
  EXPECT_EQ(json.exit_code, 3);
  EXPECT_EQ(nlohmann::json::parse(json.out).at("regression"), true);
}

TEST_F(CompareCommand, FoldersAndExportedFiles) {
  EXPECT_EQ(ergometer_.json({"compare", elsewhere(), "aaaaaa"}).at("points").at(0).at("metrics").at(0).at("verdict"), "SAME");
  for (const std::string format : {"json", "jsonl"}) {
    const std::string file = (ergometer_.folder() / ("baseline." + format)).string();
    ASSERT_EQ(ergometer_({"export", "--sweep", "20261130T090000.000Z-node-aaaaaa", "--format", format, "-o", file}).exit_code, 0);
    EXPECT_EQ(ergometer_({"compare", file, "bbbbbb", "--fail-on-regression"}).exit_code, 3) << format;
  }
}

TEST_F(CompareCommand, SingleRuns) {
  const std::vector<nlohmann::json> runs = ergometer_.records();
  const std::string a = runs.front().at("id"), b = runs.back().at("id");
  EXPECT_THAT(ergometer_({"compare", a, b}).out, HasSubstr("UNCLEAR"));
  EXPECT_THAT(ergometer_({"compare", ergometer_.results() + "/" + a, b}).out, HasSubstr("UNCLEAR"));
}

TEST_F(CompareCommand, ErrorsNameTheFix) {
  const auto error = [&](const std::string& a, const std::string& b) {
    const ChildResult r = ergometer_({"compare", a, b});
    EXPECT_EQ(r.exit_code, 2);
    EXPECT_EQ(r.out, "");
    return r.err;
  };
  EXPECT_THAT(error("zzz", "aaaaaa"), HasSubstr("no run \"zzz\""));
  EXPECT_THAT(error("2026", "aaaaaa"), HasSubstr("\"2026\" fits 2 sweeps"));
  const std::string file = (ergometer_.folder() / "file").string();
  std::ofstream(file) << "not JSON";
  EXPECT_THAT(error(file, "aaaaaa"), HasSubstr("export --format json"));
  std::ofstream(file) << "{\"runs\": []}";
  EXPECT_THAT(error("aaaaaa", file), HasSubstr("there are no runs in it"));
  std::ofstream(file) << "{\"runs\": [{\"schema_version\": 99}]}";
  EXPECT_THAT(error(file, "aaaaaa"), HasSubstr("newer ergometer"));
  EXPECT_THAT(ergometer_({"compare", "aaaaaa", "bbbbbb", "--threshold", "-1"}).err, HasSubstr("--threshold"));
}

}  // namespace
}  // namespace erg
