// Broken records of every kind beside good ones: every command goes on, and names the file it left out.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>
#include <random>

#include "core/file.hpp"
#include "faults.hpp"
#include "store/files.hpp"
#include "store/store.hpp"

namespace erg {
namespace {

using namespace test;
using testing::HasSubstr;

struct Broken {
  std::string id, text;
};

std::string noise(size_t size) {
  std::mt19937 random(7);
  std::string text(size, 0);
  for (char& c : text) c = char(random());
  return text;
}

// Every field of a good record, also those one level down, as every wrong type in turn; what remains readable may be listed.
std::vector<Broken> wrong_types() {
  std::vector<Broken> all;
  const std::vector<Json> values = {nullptr, true, -1, 1e308, "text", Json::array({1, "x", nullptr}), {{"a", {{"b", 1}}}}};
  const auto add = [&](const Json& json) {
    const std::string id = "w-" + std::to_string(all.size());
    Json named = json;
    if (named.contains("id") && named.at("id") == "model") named["id"] = id;
    all.push_back({id, named.dump()});
  };
  Json model = to_json(gpt_record("model", 4, 1000));
  model["flags"] = {{{"code", "busy_host"}, {"detail", "x"}}};
  model["coordinates"] = {{"workload.global_batch", "4"}};
  for (const auto& [key, old] : model.items())
    for (const Json& value : values) {
      Json json = model;
      json[key] = value;
      add(json);
      if (!old.is_object()) continue;
      for (const auto& [inner, ignored] : old.items()) {
        json = model;
        json[key][inner] = value;
        add(json);
      }
    }
  return all;
}

std::vector<Broken> unreadable() {
  const std::string good = json_text(to_json(gpt_record("unreadable", 4, 1000)));
  std::string huge = good;
  huge.replace(huge.find("\"schema_version\": 1"), 19, "\"schema_version\": 99999999999999999999999");
  return {{"u-half", good.substr(0, good.size() / 2)},
          {"u-empty", ""},
          {"u-noise", noise(4096)},
          {"u-zeros", std::string(4096, 0)},
          {"u-overflow", "{\"schema_version\":1e999}"},
          {"u-huge", huge},
          {"u-deep", std::string(200'000, '[')}};
}

class Corrupt : public testing::Test {
 protected:
  void put(const Broken& b) const {
    std::filesystem::create_directories(std::filesystem::path(ergometer.results()) / b.id);
    std::ofstream(record_path(ergometer.results(), b.id)) << b.text;
  }
  Program ergometer;
};

TEST_F(Corrupt, UnreadableRecordsAreNamedAndTheRestIsListed) {
  Store(ergometer.results()).save(gpt_record("good", 4, 1234));
  for (const Broken& b : unreadable()) put(b);
  for (const Words& command :
       {Words{"list"}, Words{"export"}, Words{"export", "--format", "json"}, Words{"export", "--format", "markdown"}}) {
    std::filesystem::remove(ergometer.results() + "/index.db");
    const ChildResult r = ergometer(command);
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_THAT(r.out, HasSubstr("good"));
    for (const Broken& b : unreadable()) EXPECT_THAT(r.err, HasSubstr(record_path(ergometer.results(), b.id).string()));
  }
  for (const Broken& b : unreadable()) {
    const ChildResult r = ergometer({"show", b.id});
    EXPECT_EQ(r.exit_code, 2) << b.id;
    EXPECT_THAT(r.err, HasSubstr(record_path(ergometer.results(), b.id).string()));
    EXPECT_EQ(read_file(record_path(ergometer.results(), b.id)), b.text);  // never touched
  }
  Program target;
  const ChildResult r = target({"merge", ergometer.results()});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err, HasSubstr("1 runs"));
  EXPECT_EQ(target.records().size(), 1u);
}

// A pipe that nobody writes to would hold up who opens it.
TEST_F(Corrupt, WhatIsNoFileIsNamedAndHoldsNothingUp) {
  Store(ergometer.results()).save(gpt_record("good", 4, 1234));
  const auto pipe = record_path(ergometer.results(), "u-pipe"), folder = record_path(ergometer.results(), "u-folder");
  std::filesystem::create_directories(folder);
  std::filesystem::create_directories(pipe.parent_path());
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  Program target;
  for (const Words& command : {Words{"list"}, Words{"export"}, Words{"export", "--format", "json"}}) {
    const ChildResult r = ergometer(command);
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_THAT(r.out, HasSubstr("good"));
    EXPECT_THAT(r.err, testing::AllOf(HasSubstr(pipe.string()), HasSubstr(folder.string())));
  }
  EXPECT_EQ(target({"merge", ergometer.results()}).exit_code, 0);
  EXPECT_EQ(target.records().size(), 1u);
}

TEST_F(Corrupt, WrongTypesAnywhereEndNoCommand) {
  const std::vector<Broken> all = wrong_types();
  for (const Broken& b : all) put(b);
  Store(ergometer.results()).save(gpt_record("good", 4, 1234));
  std::vector<Words> commands = {{"list"}, {"list", "--label", "a=b"}, {"compare", ergometer.results(), ergometer.results()}};
  for (const char* format : {"csv", "json", "jsonl", "markdown", "mllog"}) commands.push_back({"export", "--format", format});
  for (const Words& command : commands) {
    const ChildResult r = ergometer(command);
    EXPECT_EQ(r.exit_code, 0) << command[0] << ": " << r.err.substr(r.err.size() - std::min<size_t>(r.err.size(), 2000));
  }
  Program target;
  const ChildResult merged = target({"merge", ergometer.results()});
  EXPECT_EQ(merged.exit_code, 0) << merged.err.substr(merged.err.size() - std::min<size_t>(merged.err.size(), 2000));
}

// The same, record by record: `show` prints it or says what is wrong with it, and never dies.
using FullCorrupt = Corrupt;

TEST_F(FullCorrupt, ShowOfWrongTypes) {
  for (const Broken& b : wrong_types()) {
    put(b);
    const ChildResult r = ergometer({"show", b.id});
    EXPECT_EQ(r.signal, 0) << b.text;
    EXPECT_TRUE(r.exit_code == 0 || r.exit_code == 2) << r.err << b.text;
  }
}

TEST_F(Corrupt, ABrokenRecordOfASweepIsRunAgain) {
  // Points that are all skipped: nothing is trained.
  const Words sweep = {"sweep", "gpt-tiny", "--device", "ref", "--set", "micro_batch=2", "--axis", "global_batch=3,5"};
  ASSERT_EQ(ergometer(sweep).exit_code, 0);
  const std::string first = stored_ids(ergometer.results()).at(0);
  put({first, "{\"schema_version\":1,"});
  const ChildResult r = ergometer({"resume"});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err, HasSubstr(record_path(ergometer.results(), first).string()));
  EXPECT_THAT(stored_ids(ergometer.results()), testing::Contains(first + ".2"));
  EXPECT_EQ(ergometer.records().size(), 2u);
}

TEST_F(Corrupt, ABrokenSweepFileIsAUsageError) {
  ASSERT_EQ(ergometer({"sweep", "gpt-tiny", "--device", "ref", "--set", "micro_batch=2", "--axis", "global_batch=3"}).exit_code, 0);
  const auto path = std::filesystem::directory_iterator(ergometer.results() + "/sweeps")->path();
  const std::string good = read_file(path);
  for (const std::string& text : {std::string(), good.substr(0, good.size() / 2), noise(1000), std::string("{\"schema_version\":1}"),
                                  std::string("[]"), std::string("{\"schema_version\":2}")}) {
    std::ofstream(path) << text;
    for (const Words& command : {Words{"resume"}, Words{"resume", "--dry-run"}}) {
      const ChildResult r = ergometer(command);
      EXPECT_EQ(r.exit_code, 2) << text << r.err;
      EXPECT_THAT(r.err, HasSubstr(path.string()));
    }
    Program target;
    EXPECT_EQ(target({"merge", ergometer.results()}).exit_code, 0);  // its runs are taken over all the same
    EXPECT_EQ(target.records().size(), 1u);
  }
}

}  // namespace
}  // namespace erg
