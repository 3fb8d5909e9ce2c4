// No room, no right to write, no folder any more, and nobody to read what is printed: results that were stored stay, errors say what to do.
#include <gmock/gmock.h>

#include <fstream>

#include "faults.hpp"

namespace erg {
namespace {

using namespace test;
using testing::AllOf;
using testing::HasSubstr;

const Words sweep_of_three = Words{"sweep", "gpt-tiny", "--device", "ref", "--axis", "global_batch=1,2,4"} + brief;

ChildResult shell(const std::string& script, const Program& ergometer) {
  ChildOptions options;
  options.argv = {"sh", "-c", script};
  options.environment = {"ERGOMETER_RESULTS=" + ergometer.results(), "ERG=" + Program::path(), "DIR=" + ergometer.results()};
  return run_child(options);
}

class DiskWithoutRoom : public testing::Test {
 protected:
  // Files whose path holds `where` can be written `after` times more.
  void fill(const std::string& where, int after) {
    ergometer.environment = {"LD_PRELOAD=" ERG_STUB_DISK, "ERG_FULL=" + flag(), "ERG_FULL_WHERE=" + where,
                             "ERG_FULL_AFTER=" + std::to_string(after), "ASAN_OPTIONS=verify_asan_link_order=0"};
    std::ofstream(flag()) << "full";
  }
  void make_room() const { std::filesystem::remove(flag()); }
  std::string flag() const { return (ergometer.folder() / "disk-is-full").string(); }

  void expect_resumable(const std::map<std::string, std::string>& before) {
    make_room();
    const ChildResult r = ergometer({"resume"});
    EXPECT_EQ(r.exit_code, 0) << r.err;
    const auto records = ergometer.records();
    const auto passed = passed_by_point(records, records.back().at("sweep_id"));
    EXPECT_EQ(passed.size(), 3u);
    for (const auto& [point, times] : passed) EXPECT_EQ(times, 1) << point;
    for (const auto& [id, text] : before) {
      if (text.find("\"PASSED\"") == std::string::npos) continue;
      EXPECT_EQ(record_texts(ergometer.results())[id], text) << id;
    }
  }

  Program ergometer;
};

TEST_F(DiskWithoutRoom, BeforeTheFirstRecordNothingIsBegun) {
  fill("/results/", 0);
  const ChildResult r = ergometer(sweep_of_three);
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.err, AllOf(HasSubstr("No space left on device"), HasSubstr("make room"), HasSubstr("/sweeps/")));
  make_room();
  EXPECT_TRUE(ergometer.records().empty());
  EXPECT_EQ(ergometer({"resume"}).exit_code, 2);  // there is no sweep yet
}

TEST_F(DiskWithoutRoom, WhenAPointIsClaimed) {
  fill("record.json", 3);  // the first point's claim, its RUNNING record and its result
  const ChildResult r = ergometer(sweep_of_three);
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.err, AllOf(HasSubstr("No space left on device"), HasSubstr("-0002")));
  const auto records = ergometer.records();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].at("status"), "PASSED");
  expect_resumable(record_texts(ergometer.results()));
}

TEST_F(DiskWithoutRoom, WhenTheChildSaysThatItRuns) {
  fill("record.json", 1);
  const ChildResult r = ergometer(sweep_of_three);
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.err, HasSubstr("No space left on device"));
  expect_resumable(record_texts(ergometer.results()));
}

TEST_F(DiskWithoutRoom, WhenTheResultIsStored) {
  fill("record.json", 2);
  EXPECT_EQ(ergometer(sweep_of_three).exit_code, 1);
  expect_resumable(record_texts(ergometer.results()));
}

TEST_F(DiskWithoutRoom, WhenOnlyTheSamplesDoNotFit) {
  fill("samples.json", 1);
  const ChildResult r = ergometer(sweep_of_three);
  EXPECT_NE(r.exit_code, 0);
  EXPECT_THAT(r.err, HasSubstr("samples.json"));
  for (const auto& record : ergometer.records()) EXPECT_NE(record.at("status"), "FAILED") << record.at("status_reason");
  expect_resumable(record_texts(ergometer.results()));
}

// What is half made says so and is not taken for data; once there is room the same command completes it.
TEST_F(DiskWithoutRoom, WhenImagesAreMade) {
  const std::string out = (ergometer.folder() / "images").string();
  const Words make = {"data", "images", "--classes", "2", "--per-class", "6", "--size", "32x32", "--out", out};
  for (const int after : {0, 5, 12}) {  // at the first image, in the middle, at data.json
    fill("/images", after);
    const ChildResult r = ergometer(make);
    EXPECT_EQ(r.exit_code, 1) << after << r.out;
    EXPECT_THAT(r.err, AllOf(HasSubstr("No space left on device"), HasSubstr(out))) << after;
    EXPECT_FALSE(std::filesystem::exists(out + "/data.json")) << after;
    make_room();
    std::filesystem::remove(flag() + ".count");
  }
  EXPECT_EQ(ergometer(make).exit_code, 0);
  EXPECT_EQ(ergometer({"data", "inspect", out}).exit_code, 0);
}

// Token files are written through stdio, which the stub does not see: the file lies on /dev/full instead.
TEST_F(DiskWithoutRoom, WhenTokensAreMade) {
  const std::string out = (ergometer.folder() / "text").string();
  const Words make = {"data", "tokens", ERG_SOURCE_DIR "/LICENSE", "--vocabulary", "400", "--out", out};
  for (const char* file : {"/train.bin", "/val.bin"}) {
    const std::string aside = out + file + ".part";
    std::filesystem::create_directories(out);
    std::filesystem::create_symlink("/dev/full", aside);
    const ChildResult r = ergometer(make);
    EXPECT_EQ(r.exit_code, 1) << file << r.out;
    EXPECT_THAT(r.err, AllOf(HasSubstr("No space left on device"), HasSubstr(file))) << file;
    EXPECT_FALSE(std::filesystem::exists(out + "/data.json")) << file;
    std::filesystem::remove(aside);
  }
  EXPECT_EQ(ergometer(make).exit_code, 0);
  EXPECT_EQ(ergometer({"data", "inspect", out}).exit_code, 0);
}

TEST(ReadOnlyResults, CanBeReadAndSayHowToGoOn) {
  Program ergometer;
  ASSERT_EQ(ergometer(Words{"run", "gpt-tiny", "--device", "ref"} + brief).exit_code, 0);
  const std::string freeze = "mount --bind $DIR $DIR && mount -o remount,ro,bind $DIR && ";
  if (shell("unshare -rm sh -c '" + freeze + "true'", ergometer).exit_code != 0) GTEST_SKIP() << "user namespaces are not allowed here";
  const ChildResult list = shell("unshare -rm sh -c '" + freeze + "$ERG list'", ergometer),
                    run = shell("unshare -rm sh -c '" + freeze + "$ERG run gpt-tiny --device ref'", ergometer);
  EXPECT_EQ(list.exit_code, 0) << list.err;
  EXPECT_THAT(list.out, HasSubstr("gpt-tiny"));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, AllOf(HasSubstr("cannot be written"), HasSubstr("--results DIR")));
}

TEST(RemovedResults, AreMadeAnewByWhatStillRuns) {
  Program ergometer;
  Started sweep(Words{"sweep", "gpt-tiny", "--device", "ref", "--axis", "global_batch=1,2", "--set", "measure.duration_s=1.5", "--set",
                      "measure.warmup_min_s=0", "--set", "measure.settle_max_s=0"},
                ergometer.results());
  ASSERT_TRUE(sweep.wait_for_line("1/2"));
  std::filesystem::remove_all(ergometer.results());
  EXPECT_EQ(sweep.wait(), 0);
  const auto records = ergometer.records();
  ASSERT_EQ(records.size(), 2u);
  for (const auto& r : records) EXPECT_EQ(r.at("status"), "PASSED") << r.at("status_reason");
  EXPECT_EQ(ergometer({"resume"}).exit_code, 0);  // its sweep file is there again
}

TEST(Stdout, ThatIsFullClosedOrBrokenMakesTheExitCodeOneAndLosesNothing) {
  Program ergometer;
  const std::string run =
      "$ERG run gpt-tiny --device ref --set measure.warmup_min_s=0 --set measure.settle_max_s=0 --set measure.duration_s=0.1";
  for (const std::string& script :
       Words{run + " >/dev/full", run + " --json - >/dev/full", run + " >&-", "$ERG list >/dev/full", "$ERG list >&-"}) {
    const ChildResult r = shell(script, ergometer);
    EXPECT_EQ(r.exit_code, 1) << script << "\n" << r.err;
    EXPECT_THAT(r.err, HasSubstr("cannot write to stdout")) << script;
  }
  const ChildResult broken = shell("trap '' PIPE; (" + run + "; echo $? >$DIR/code) | true; cat $DIR/code", ergometer);
  EXPECT_EQ(broken.out, "1\n") << broken.err;
  const auto records = ergometer.records();
  ASSERT_EQ(records.size(), 4u);
  for (const auto& r : records) EXPECT_EQ(r.at("status"), "PASSED") << r.at("status_reason");
}

}  // namespace
}  // namespace erg
