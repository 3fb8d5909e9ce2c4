// The results folder: what is saved is found, what is broken is reported and kept, and the index is only an index.
#include "store/store.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>

#include <fstream>
#include <thread>

#include "core/error.hpp"
#include "core/file.hpp"
#include "sample_records.hpp"
#include "store/files.hpp"
#include "store/process_id.hpp"
#include "store/sqlite.hpp"

namespace erg {
namespace {

using test::gpt_record;
using test::TemporaryFolder;
using testing::HasSubstr;

std::vector<std::string> ids(const std::vector<Record>& records) {
  std::vector<std::string> result;
  for (const Record& r : records) result.push_back(r.id);
  return result;
}

Record running(const std::string& id, const Json& process) {
  Record r = gpt_record(id, 1, 100);
  r.status = Status::running;
  r.process = process;
  return r;
}

TEST(Store, SavesAndLoads) {
  TemporaryFolder folder;
  Store store(folder.path() / "a" / "b");
  const Record r = gpt_record("20260101T000000.000Z-h-000001", 4, 1000);
  store.save(r);
  const Record back = store.load(r.id, true);
  EXPECT_EQ(to_json(back), to_json(r));
  EXPECT_EQ(back.step_times, r.step_times);
  EXPECT_EQ(back.losses, r.losses);
  EXPECT_TRUE(store.load(r.id).losses.empty());
}

TEST(Store, LossesThatAreNotFiniteSurvive) {
  TemporaryFolder folder;
  Store store(folder.path());
  Record r = gpt_record("a", 4, 1000);
  r.losses = {1.0, std::nan(""), HUGE_VAL};
  store.save(r);
  const Record back = store.load("a", true);
  ASSERT_EQ(back.losses.size(), 3u);
  EXPECT_EQ(back.losses[0], 1.0);
  EXPECT_FALSE(std::isfinite(back.losses[1]));
  EXPECT_FALSE(std::isfinite(back.losses[2]));
  EXPECT_EQ(store.list().size(), 1u);
}

TEST(Store, IdsAreUniqueAndSortByTime) {
  TemporaryFolder folder;
  Store store(folder.path());
  const std::string first = store.new_id(), second = store.new_id();
  EXPECT_NE(first, second);
  EXPECT_EQ(first.substr(0, 2), "20");
  EXPECT_LE(first.substr(0, 20), second.substr(0, 20));
  EXPECT_EQ(first.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-"), std::string::npos);
}

TEST(Store, FindsByLastBeginningAndEnd) {
  TemporaryFolder folder;
  Store store(folder.path());
  for (const char* id : {"2026-a-111", "2026-a-222", "2027-b-333"}) store.save(gpt_record(id, 1, 1));
  EXPECT_EQ(store.load("last").id, "2027-b-333");
  EXPECT_EQ(store.load("2027").id, "2027-b-333");
  EXPECT_EQ(store.load("222").id, "2026-a-222");
  try {
    store.load("2026");
    FAIL() << "ambiguous, yet found";
  } catch (const Error& e) { EXPECT_THAT(e.what(), testing::AllOf(HasSubstr("2026-a-111"), HasSubstr("2026-a-222"))); }
  EXPECT_THROW(store.load("nothing"), Error);
  EXPECT_THROW(store.load(""), Error);
}

TEST(Store, ListsOldestFirstAndFilters) {
  TemporaryFolder folder;
  Store store(folder.path());
  for (const char* id : {"3", "1", "2"}) {
    Record r = gpt_record(id, 1, 1);
    r.sweep_id = id == std::string("3") ? "" : "s";
    store.save(r);
  }
  EXPECT_EQ(ids(store.list()), (std::vector<std::string>{"1", "2", "3"}));
  EXPECT_EQ(ids(store.list({"s", "", 0})), (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(ids(store.list({"", "", 2})), (std::vector<std::string>{"2", "3"}));
  EXPECT_TRUE(store.list({"", "ffff", 0}).empty());
}

TEST(Store, ARunningRunOfThisProcessIsRunning) {
  TemporaryFolder folder;
  Store store(folder.path());
  store.save(running("r", nullptr));
  EXPECT_EQ(store.load("r").status, Status::running);
  EXPECT_EQ(store.load("r").process.at("pid"), ::getpid());
}

TEST(Store, ARunWhoseProcessIsGoneIsShownInterruptedAndNotRewritten) {
  TemporaryFolder folder;
  Store store(folder.path());
  const pid_t child = ::fork();
  if (child == 0) {
    Store(folder.path()).save(running("r", nullptr));
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  const std::string before = read_file(record_path(folder.path(), "r"));
  EXPECT_EQ(store.load("r").status, Status::interrupted);
  EXPECT_EQ(store.load("r").status_reason, "process died");
  EXPECT_EQ(store.list().at(0).status, Status::interrupted);
  EXPECT_EQ(read_file(record_path(folder.path(), "r")), before);
}

TEST(Store, WhatMayStillLiveIsLeftRunning) {
  Json other_host = this_process(), other_boot = this_process(), reused_pid = this_process();
  other_host["host"] = "somewhere-else";
  other_host["pid"] = 999999999;
  EXPECT_FALSE(certainly_dead(other_host));
  other_boot["boot_id"] = "another";
  EXPECT_TRUE(certainly_dead(other_boot));
  reused_pid["pid_started"] = 1;
  EXPECT_TRUE(certainly_dead(reused_pid));
  EXPECT_FALSE(certainly_dead(this_process()));
  EXPECT_FALSE(certainly_dead(Json()));
  for (const auto& [key, value] :
       {std::pair<const char*, Json>{"pid", "x"}, {"pid", 1e300}, {"pid_started", 0.5}, {"host", 3}, {"boot_id", nullptr}}) {
    Json bad = this_process();
    bad[key] = value;
    EXPECT_FALSE(certainly_dead(bad)) << key;  // and no exception
  }
}

TEST(Store, LastIsTheNewestThatCanBeRead) {
  TemporaryFolder folder;
  Store store(folder.path());
  store.save(gpt_record("a", 1, 1));
  store.save(gpt_record("b", 1, 1));
  std::filesystem::create_directories(folder.path() / "z-folder" / "record.json");
  std::filesystem::create_directories(folder.path() / "z-half");
  write_file_atomically(record_path(folder.path(), "z-half"), "{");
  EXPECT_EQ(store.load("last").id, "b");
  EXPECT_THROW(store.load("z-half"), Error);
}

TEST(Store, BrokenFilesAreReportedAndKept) {
  TemporaryFolder folder;
  Store store(folder.path());
  store.save(gpt_record("good", 1, 1));
  std::filesystem::create_directories(folder.path() / "bad");
  std::ofstream(folder.path() / "bad" / "record.json") << "{\"schema_version\":1,";
  std::filesystem::create_directories(folder.path() / "empty");
  testing::internal::CaptureStderr();
  const auto records = store.list();
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr((folder.path() / "bad" / "record.json").string()));
  EXPECT_EQ(ids(records), std::vector<std::string>{"good"});
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "bad" / "record.json"));
  EXPECT_THROW(store.load("bad"), Error);
}

TEST(Store, ARecordUnderAnotherNameIsReported) {
  TemporaryFolder folder;
  Store store(folder.path());
  store.save(gpt_record("first", 1, 1));
  std::filesystem::rename(folder.path() / "first", folder.path() / "second");
  testing::internal::CaptureStderr();
  EXPECT_TRUE(store.list().empty());
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("holds the run first"));
}

TEST(Index, FollowsTheFilesAndCanBeDeleted) {
  TemporaryFolder folder;
  Store store(folder.path());
  store.save(gpt_record("a", 1, 1));
  store.save(running("b", nullptr));
  EXPECT_EQ(store.list().size(), 2u);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "index.db"));
  store.save(gpt_record("b", 8, 2));  // completed in the meantime
  EXPECT_EQ(store.list().at(1).status, Status::passed);
  std::filesystem::remove_all(folder.path() / "a");
  EXPECT_EQ(ids(store.list()), std::vector<std::string>{"b"});
  std::filesystem::remove(folder.path() / "index.db");
  EXPECT_EQ(ids(store.list()), std::vector<std::string>{"b"});
}

TEST(Index, IsMadeAnewWhenItIsNotADatabase) {
  TemporaryFolder folder;
  Store store(folder.path());
  store.save(gpt_record("a", 1, 1));
  std::ofstream(folder.path() / "index.db") << std::string(5000, 'x');
  EXPECT_EQ(store.list().size(), 1u);
  EXPECT_EQ(read_file(folder.path() / "index.db").substr(0, 15), "SQLite format 3");
}

TEST(Index, IsMadeAnewWhenItsTablesAreOfAnotherVersion) {
  TemporaryFolder folder;
  Store store(folder.path());
  store.save(gpt_record("a", 1, 1));
  Database((folder.path() / "index.db").string()).execute("CREATE TABLE runs(old TEXT); PRAGMA user_version = 77;");
  EXPECT_EQ(store.list().size(), 1u);
}

TEST(Index, LivesInMemoryWhereItCannotBeWritten) {
  TemporaryFolder folder;
  Store store(folder.path());
  store.save(gpt_record("a", 1, 1));
  std::filesystem::create_directory(folder.path() / "index.db");  // also stops root, whom permissions don't
  EXPECT_EQ(Store(folder.path(), Store::Access::read).list().size(), 1u);
}

TEST(Index, HasTablesForSql) {
  TemporaryFolder folder;
  Store store(folder.path());
  Record r = gpt_record("a", 1, 50);
  r.sweep_id = "s";
  r.flags = {{"busy_host", "why"}};
  store.save(r);
  store.list();
  Database db((folder.path() / "index.db").string());
  const auto value = [&](const char* sql) {
    Statement s(db, sql);
    return s.step() ? s.text(0) : "none";
  };
  EXPECT_EQ(value("SELECT value FROM metrics WHERE run_id='a' AND name='tokens_per_s'"), "50.0");
  EXPECT_EQ(value("SELECT reason FROM metrics WHERE name='mfu' AND value IS NULL"), r.metrics["mfu"].reason);
  EXPECT_EQ(value("SELECT COUNT(*) FROM samples"), "3");
  EXPECT_EQ(value("SELECT detail FROM flags"), "why");
  EXPECT_EQ(value("SELECT id || ' ' || runs FROM sweeps"), "s 1");
  EXPECT_EQ(value("SELECT name FROM runs"), "quick");
}

// The header is whole, so that SQLite opens it; what is broken are the pages behind it, all of them or one after the other.
TEST(Index, DamageInsideItIsFoundAndMended) {
  TemporaryFolder folder;
  Store store(folder.path());
  for (int i = 0; i < 20; ++i) store.save(gpt_record(std::to_string(100 + i), 1, 1));
  ASSERT_EQ(store.list().size(), 20u);
  const auto path = folder.path() / "index.db";
  const std::string good = read_file(path);
  for (size_t page = 1; page < good.size() / 4096; page += 3) {
    for (const char* suffix : {"-wal", "-shm"}) std::filesystem::remove(path.string() + suffix);
    std::string bad = good;
    for (size_t i = page * 4096; i < (page + 1) * 4096; ++i) bad[i] = char(i * 37 + 11);
    std::ofstream(path) << bad;
    EXPECT_EQ(store.list().size(), 20u) << "page " << page;
  }
  EXPECT_EQ(store.list().size(), 20u);
}

TEST(Index, BriefRecordsHoldWhatALineOfAListShows) {
  TemporaryFolder folder;
  Store store(folder.path());
  Record r = gpt_record("a", 4, 50);
  r.flags = {{"busy_host", "why"}};
  r.spec["labels"] = {{"who", "me"}};
  store.save(r);
  store.save(running("b", nullptr));
  Store::Query query;
  query.brief = true;
  query.labels = {{"who", "me"}};
  const std::vector<Record> found = store.list(query);
  ASSERT_EQ(ids(found), std::vector<std::string>{"a"});
  EXPECT_EQ(found[0].spec.at("workload"), r.spec.at("workload"));
  EXPECT_EQ(found[0].metrics.at("tokens_per_s").value, 50);
  EXPECT_EQ(found[0].metrics.at("loss_last").value, r.metrics.at("loss_last").value);
  EXPECT_EQ(found[0].plan.at("precision"), "bf16");
  EXPECT_EQ(found[0].flags.at(0).code, "busy_host");
  query.labels.clear();
  EXPECT_EQ(store.list(query).at(1).status, Status::running);  // its process is still known
}

TEST(Index, ManyWritersAndReadersAtOnce) {
  TemporaryFolder folder;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      Store store(folder.path());
      for (int i = 0; i < 8; ++i) {
        store.save(gpt_record(std::to_string(t) + "-" + std::to_string(i), 1, 1));
        if (i % 3 == 0) store.list();
      }
    });
  threads.clear();
  EXPECT_EQ(Store(folder.path()).list().size(), 32u);
}

TEST(Store, AFolderThatCannotBeMadeSaysHowToGoOn) {
  TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "x";
  try {
    Store store(folder.path() / "file" / "results");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::usage);
    EXPECT_THAT(e.fix(), HasSubstr("--results"));
  }
  EXPECT_TRUE(Store(folder.path() / "missing", Store::Access::read).list().empty());
}

}  // namespace
}  // namespace erg
