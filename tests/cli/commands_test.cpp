// The other commands and the command line itself: outputs, errors with their fix, exit codes.
#include <gmock/gmock.h>

#include <fstream>

#include "program.hpp"
#include "store/store.hpp"

namespace erg {
namespace {

using namespace test;
using testing::AllOf;
using testing::HasSubstr;
using Words = std::vector<std::string>;

class Commands : public testing::Test {
 protected:
  Commands() {
    Store store(ergometer_.results());
    store.save(gpt_record("20261130T100000.000Z-node-aaaaaa", 1, 105));
    store.save(gpt_record("20261130T110000.000Z-node-bbbbbb", 2, 208));
  }
  Program ergometer_;
};

TEST_F(Commands, ListShowsEveryRun) {
  const ChildResult r = ergometer_({"list"});
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_THAT(r.out,
              AllOf(HasSubstr("20261130T100000.000Z-node-aaaaaa"), HasSubstr("20261130T110000.000Z-node-bbbbbb"), HasSubstr("PASSED")));
  EXPECT_EQ(ergometer_.json({"list", "--limit", "1"}).at("runs").at(0).at("id"), "20261130T110000.000Z-node-bbbbbb");
}

TEST_F(Commands, ABrokenRecordIsReportedAndTheRestListed) {
  std::filesystem::create_directories(ergometer_.results() + "/broken");
  std::ofstream(ergometer_.results() + "/broken/record.json") << "{";
  const ChildResult r = ergometer_({"list"});
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_THAT(r.err, HasSubstr("broken/record.json"));
  EXPECT_THAT(r.out, HasSubstr("aaaaaa"));
  EXPECT_TRUE(std::filesystem::exists(ergometer_.results() + "/broken/record.json"));
}

TEST_F(Commands, ShowFindsTheNewestAndTheNamed) {
  EXPECT_THAT(ergometer_({"show"}).out, HasSubstr("bbbbbb  PASSED"));
  EXPECT_THAT(ergometer_({"show", "aaaaaa"}).out, AllOf(HasSubstr("aaaaaa  PASSED"), HasSubstr("repeat with  ergometer run gpt-117m")));
  EXPECT_EQ(ergometer_.json({"show", "last"}).at("id"), "20261130T110000.000Z-node-bbbbbb");
  const ChildResult none = ergometer_({"show", "zzz"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("no run \"zzz\""));
}

TEST_F(Commands, ExportWritesItsFormats) {
  EXPECT_THAT(ergometer_({"export"}).out, AllOf(HasSubstr("id,status,"), HasSubstr("tokens_per_s,")));
  EXPECT_THAT(ergometer_({"export", "aaaaaa", "--format", "markdown"}).out,
              AllOf(HasSubstr("| id |"), HasSubstr("aaaaaa"), testing::Not(HasSubstr("bbbbbb"))));
  EXPECT_THAT(ergometer_({"export", "--format", "mllog"}).out, testing::StartsWith(":::MLLOG {\"namespace\":"));
  const std::string lines = ergometer_({"export", "--format", "jsonl"}).out;
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 2);
  const std::string file = (ergometer_.folder() / "runs.json").string();
  EXPECT_EQ(ergometer_({"export", "--format", "json", "-o", file}).exit_code, 0);
  std::ifstream in(file);
  EXPECT_EQ(nlohmann::json::parse(in).at("runs").size(), 2u);
  EXPECT_EQ(ergometer_({"export", "--format", "xml"}).exit_code, 2);
}

TEST_F(Commands, ResultsCanBeNamedByFlag) {
  const std::string elsewhere = (ergometer_.folder() / "elsewhere").string();
  const ChildResult r = ergometer_({"list", "--results", elsewhere});
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_EQ(r.out, "");
  EXPECT_THAT(r.err, HasSubstr("no runs"));
  EXPECT_FALSE(std::filesystem::exists(elsewhere));
  EXPECT_EQ(ergometer_.json({"list", "--results", elsewhere}).at("runs").size(), 0u);
}

TEST(Environment, IsCompleteJson) {
  const auto facts = Program().json({"env"});
  for (const char* group : {"host", "cpu", "memory", "limits", "variables", "libraries", "binary"})
    EXPECT_TRUE(facts.at(group).is_object()) << group;
  EXPECT_NE(facts.at("binary").at("compiler"), "");
  EXPECT_THAT(Program()({"env"}).out, HasSubstr("cpu.model"));
}

TEST(Doctor, SaysWhatWorks) {
  const ChildResult r = Program()({"doctor"});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, AllOf(testing::ContainsRegex("engine ref +ok"), testing::ContainsRegex("engine cpu +ok"), HasSubstr("energy"),
                           HasSubstr("results")));
}

TEST(Doctor, SpeaksJson) {
  const auto report = Program().json({"doctor"});
  EXPECT_EQ(report.at("can_run"), true);
  EXPECT_GT(report.at("checks").size(), 10u);
}

TEST(Doctor, AFolderThatCannotBeUsedPreventsRunning) {
  TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "x";
  const ChildResult r = Program()({"doctor", "--results", (folder.path() / "file").string()});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.out, HasSubstr("is no folder"));
}

TEST(Version, NamesVersionAndBuild) { EXPECT_THAT(Program()({"version"}).out, AllOf(HasSubstr("ergometer 0."), HasSubstr("git "))); }

void expect_usage_error(const Words& arguments, const std::vector<std::string>& texts) {
  const ChildResult r = Program()(arguments);
  EXPECT_EQ(r.exit_code, 2) << r.err;
  EXPECT_EQ(r.out, "");
  EXPECT_THAT(r.err, testing::StartsWith(arguments.empty() ? "Measures" : "ergometer: error: "));
  for (const std::string& text : texts) EXPECT_THAT(r.err, HasSubstr(text));
}

TEST(Usage, UnknownThingsNameTheNearest) {
  expect_usage_error({"swep", "x"}, {"unknown command swep", "did you mean sweep?"});
  expect_usage_error({"run", "gpt-tiny", "--devise", "ref"}, {"unknown option --devise", "did you mean --device?"});
  expect_usage_error({"list", "--jsn=-"}, {"did you mean --json?"});
  expect_usage_error({"run", "gpt-tiny", "more"}, {"unknown argument more"});
  expect_usage_error({"data", "tokenz"}, {"did you mean tokens?"});
  expect_usage_error({"run"}, {"SPEC is required", "ergometer run --help"});
  expect_usage_error({"run", "gpt-tinny"}, {"gpt-tiny"});
  expect_usage_error({}, {"run", "sweep"});
}

TEST(Usage, BadKeysSayWhereTheyStand) {
  expect_usage_error({"run", "gpt-tiny", "--set", "workload.layrs=2"}, {"layrs", "layers"});
  TemporaryFolder folder;
  const std::string spec = (folder.path() / "bad.toml").string();
  std::ofstream(spec) << "[workload]\npreset = \"gpt-tiny\"\nglobal_bach = 4\n";
  expect_usage_error({"run", spec}, {spec + ":3:1", "global_bach", "global_batch"});
  std::ofstream(spec) << "[workload]\npreset = \"gpt-tiny\"\n[axes]\nglobal_batch = [1, 2]\n";
  expect_usage_error({"run", spec}, {"ergometer sweep"});
}

TEST(Usage, HelpIsNoError) {
  for (const Words& words : {Words{"--help"}, Words{"run", "--help"}, Words{"data", "tokens", "--help"}}) {
    const ChildResult r = Program()(words);
    EXPECT_EQ(r.exit_code, 0);
    EXPECT_THAT(r.out, HasSubstr("--help"));
    EXPECT_THAT(r.out, testing::Not(HasSubstr("--record-id")));
  }
}

TEST(Usage, AResultsFolderThatCannotBeMadeIsAnError) {
  TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "x";
  const ChildResult r = Program()({"run", "gpt-tiny", "--device", "ref", "--results", (folder.path() / "file/results").string()});
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_THAT(r.err, HasSubstr("--results DIR"));
}

}  // namespace
}  // namespace erg
