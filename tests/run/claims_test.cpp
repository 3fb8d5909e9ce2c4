// Which points are still to be run, from records that stand for every way a point can have ended.
#include "run/claims.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "../store/sample_records.hpp"
#include "core/error.hpp"
#include "store/files.hpp"
#include "store/process_id.hpp"

namespace erg {
namespace {

using test::TemporaryFolder;
using Kind = PointState::Kind;

StoredSweep two_points() {
  StoredSweep sweep{"20260101T000000.000Z-h-000001", "2026-01-01T00:00:00Z", "", {}};
  for (int batch : {1, 2}) {
    SweepPoint p;
    p.spec = load_spec({"gpt-tiny", {"global_batch=" + std::to_string(batch)}, {}, {}});
    p.coordinates = {{"workload.global_batch", std::to_string(batch)}};
    sweep.points.push_back(p);
  }
  return sweep;
}

Json dead_process() {
  Json process = this_process();
  process["pid_started"] = 1;  // that number belongs to somebody else by now
  return process;
}

class Claims : public testing::Test {
 protected:
  Kind kind_with(Status status, const Json& process, const RetryRule& rule = {}) {
    Record r = claim_record(sweep, 0, 1);
    r.status = status;
    r.process = process;
    store.save(r);
    return state_of(store, sweep, 0, rule).kind;
  }
  TemporaryFolder folder;
  Store store{folder.path()};
  StoredSweep sweep = two_points();
};

TEST_F(Claims, WhatIsMissingIsOpen) {
  const PointState state = state_of(store, sweep, 0, {});
  EXPECT_EQ(state.kind, Kind::open);
  EXPECT_EQ(state.attempt, 0);
}

TEST_F(Claims, WhatIsFinishedIsDoneAndFailuresAreRetriedOnRequest) {
  const RetryRule retry = {true, {}};
  for (Status s : {Status::passed, Status::invalid, Status::skipped}) {
    EXPECT_EQ(kind_with(s, dead_process()), Kind::done) << name_of(s);
    EXPECT_EQ(kind_with(s, dead_process(), retry), Kind::done) << name_of(s);
  }
  for (Status s : {Status::failed, Status::oom, Status::timeout}) {
    EXPECT_EQ(kind_with(s, dead_process()), Kind::done) << name_of(s);
    EXPECT_EQ(kind_with(s, dead_process(), retry), Kind::open) << name_of(s);
  }
  EXPECT_EQ(kind_with(Status::interrupted, dead_process()), Kind::open);
}

TEST_F(Claims, ARunningOneIsOpenOnlyWhenNobodyCanConcludeIt) {
  EXPECT_EQ(kind_with(Status::running, this_process()), Kind::running);
  EXPECT_EQ(kind_with(Status::running, dead_process()), Kind::open);
  Json orphan = dead_process(), kept = dead_process();
  orphan["sweep"] = dead_process();
  kept["sweep"] = this_process();  // it will store what became of its child
  EXPECT_EQ(kind_with(Status::running, orphan), Kind::open);
  EXPECT_EQ(kind_with(Status::running, kept), Kind::running);
}

TEST_F(Claims, AnotherBootIsAnEndAndAnotherHostMayLive) {
  Json rebooted = this_process(), elsewhere = this_process();
  rebooted["boot_id"] = "another";
  elsewhere["host"] = "node7";
  EXPECT_EQ(kind_with(Status::running, rebooted), Kind::open);
  EXPECT_EQ(kind_with(Status::running, elsewhere), Kind::running);
  EXPECT_EQ(kind_with(Status::running, elsewhere, {false, {"node8"}}), Kind::running);
  EXPECT_EQ(kind_with(Status::running, elsewhere, {false, {"node7"}}), Kind::open);
}

TEST_F(Claims, ABrokenRecordIsOpenAndNamed) {
  store.save(claim_record(sweep, 0, 1));
  std::ofstream(record_path(folder.path(), sweep.record_id(0, 1))) << "{";
  const PointState state = state_of(store, sweep, 0, {});
  EXPECT_EQ(state.kind, Kind::open);
  EXPECT_EQ(state.attempt, 1);
  EXPECT_THAT(state.broken, testing::HasSubstr(sweep.record_id(0, 1)));
}

TEST_F(Claims, OfManyClaimsOneWinsEveryAttempt) {
  for (int attempt : {1, 2}) {
    std::atomic<int> winners = 0;
    std::vector<std::jthread> claimers;
    for (int i = 0; i < 8; ++i) claimers.emplace_back([&] { winners += store.claim(claim_record(sweep, 1, attempt)); });
    claimers.clear();
    EXPECT_EQ(winners, 1);
    EXPECT_EQ(state_of(store, sweep, 1, {}).attempt, attempt);
  }
}

}  // namespace
}  // namespace erg
