// Merging loses nothing: neither what is here nor what is there.
#include "store/merge.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "core/error.hpp"
#include "core/file.hpp"
#include "sample_records.hpp"
#include "store/files.hpp"
#include "store/sweep_file.hpp"

namespace erg {
namespace {

using test::gpt_record;
using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;

class Merge : public testing::Test {
 protected:
  TemporaryFolder here, there;
  Store ours{here.path()}, theirs{there.path()};
  MergeResult merge() { return merge_into(ours, there.path()); }
  static Record with(Record r, Status status) {
    r.status = status;
    if (status == Status::running) {
      r.metrics.clear();
      r.phases = Json::object();
      r.step_times.clear();
      r.losses.clear();
    }
    return r;
  }
};

TEST_F(Merge, TakesRunsAndSweepsOnceAndKeepsEveryFile) {
  ours.save(gpt_record("a", 1, 1));
  theirs.save(gpt_record("b", 2, 2));
  std::ofstream(there.path() / "b" / "trace.txt") << "more";
  save_sweep(there.path(), {"s", "2026-01-01T00:00:00Z", "", load_sweep({"gpt-tiny", {}, {}, {}})});
  const MergeResult first = merge(), second = merge();
  EXPECT_EQ(first.runs, 1);
  EXPECT_EQ(first.sweeps, 1);
  EXPECT_EQ(second.runs + second.sweeps, 0);
  EXPECT_EQ(second.same, 2);
  EXPECT_EQ(to_json(ours.load("b")), to_json(theirs.load("b")));
  EXPECT_EQ(ours.load("b", true).step_times, theirs.load("b", true).step_times);
  EXPECT_EQ(read_file(here.path() / "b" / "trace.txt"), "more");
  EXPECT_EQ(load_sweep_file(here.path(), "s").points.size(), 1u);
  EXPECT_EQ(ours.list().size(), 2u);
  for (const auto& entry : std::filesystem::directory_iterator(here.path()))
    EXPECT_THAT(entry.path().filename().string(), testing::Not(testing::StartsWith("."))) << "left aside";
}

TEST_F(Merge, ACompleteRecordReplacesARunningOneAndNeverTheOtherWayRound) {
  const Record complete = gpt_record("a", 1, 1), other = gpt_record("b", 1, 1);
  ours.save(with(complete, Status::running));
  theirs.save(complete);
  ours.save(other);
  theirs.save(with(other, Status::running));
  const MergeResult r = merge();
  EXPECT_EQ(r.runs, 1);
  EXPECT_TRUE(r.conflicts.empty());
  EXPECT_EQ(ours.load("a").status, Status::passed);
  EXPECT_EQ(ours.load("a", true).step_times, complete.step_times);
  EXPECT_EQ(ours.load("b").status, Status::passed);
}

TEST_F(Merge, TheSameIdWithAnotherContentIsAConflictAndOursStays) {
  ours.save(gpt_record("a", 1, 1));
  theirs.save(gpt_record("a", 1, 999));
  theirs.save(gpt_record("b", 1, 1));
  const MergeResult r = merge();
  EXPECT_THAT(r.conflicts, ElementsAre(HasSubstr("a: differs from")));
  EXPECT_EQ(r.runs, 1);
  EXPECT_EQ(ours.load("a").metrics.at("tokens_per_s").value, 1);
}

TEST_F(Merge, BrokenAndHalfCopiedOnesAreSaidAndLeftOut) {
  for (const char* id : {"cut", "no-samples", "bad-samples", "renamed", "good"}) theirs.save(gpt_record(id, 1, 1));
  Record measured = gpt_record("no-samples", 1, 1);
  measured.phases["measure_steps"] = 3;
  theirs.save(measured);
  const std::string text = read_file(record_path(there.path(), "cut"));
  std::ofstream(record_path(there.path(), "cut")) << text.substr(0, text.size() / 2);
  std::filesystem::remove(samples_path(there.path(), "no-samples"));
  std::ofstream(samples_path(there.path(), "bad-samples")) << "{\"step_times\":[";
  std::filesystem::rename(there.path() / "renamed", there.path() / "other-name");
  const MergeResult r = merge();
  EXPECT_EQ(r.runs, 1);
  EXPECT_EQ(r.left_out.size(), 4u);
  for (const char* id : {"cut", "no-samples", "bad-samples", "other-name"})
    EXPECT_THAT(r.left_out, testing::Contains(HasSubstr((there.path() / id).string())));
  EXPECT_EQ(ours.list().size(), 1u);
}

TEST_F(Merge, OursBeingBrokenTakesTheirs) {
  theirs.save(gpt_record("a", 1, 7));
  ours.save(gpt_record("a", 1, 7));
  std::ofstream(record_path(here.path(), "a")) << "";
  EXPECT_EQ(merge().runs, 1);
  EXPECT_EQ(ours.load("a").status, Status::passed);
}

TEST_F(Merge, AnEmptyFolderOfAnInterruptedCopyIsNoObstacle) {
  theirs.save(gpt_record("a", 1, 7));
  std::filesystem::create_directories(here.path() / "a");
  std::ofstream(here.path() / "a" / "spec.toml") << "x";
  EXPECT_EQ(merge().runs, 1);
  EXPECT_EQ(ours.load("a", true).step_times.size(), 3u);
}

TEST_F(Merge, WrongFoldersAreUsageErrors) {
  EXPECT_THROW(merge_into(ours, there.path() / "missing"), Error);
  EXPECT_THROW(merge_into(ours, here.path()), Error);
}

}  // namespace
}  // namespace erg
