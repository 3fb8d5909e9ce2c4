// The index's tables and how they follow the files: a run is read again when its record file was replaced.
#include "store/index.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "core/error.hpp"
#include "store/files.hpp"

namespace erg {
namespace {

constexpr int version = 2;  // of the tables below, as their last line sets it; another one in the file means start anew

constexpr const char* drop = R"sql(
  DROP VIEW IF EXISTS sweeps;
  DROP TABLE IF EXISTS runs; DROP TABLE IF EXISTS metrics; DROP TABLE IF EXISTS samples; DROP TABLE IF EXISTS flags;
)sql";
constexpr const char* tables = R"sql(
  CREATE TABLE IF NOT EXISTS runs(id TEXT PRIMARY KEY, sweep_id TEXT, spec_hash TEXT, status TEXT, started TEXT, name TEXT, record TEXT,
                                  brief TEXT, stamp TEXT);
  CREATE TABLE IF NOT EXISTS metrics(run_id TEXT, name TEXT, value REAL, unit TEXT, ci_low REAL, ci_high REAL, n INTEGER, reason TEXT);
  CREATE TABLE IF NOT EXISTS samples(run_id TEXT, step INTEGER, time_s REAL, loss REAL);
  CREATE TABLE IF NOT EXISTS flags(run_id TEXT, code TEXT, detail TEXT);
  CREATE INDEX IF NOT EXISTS metrics_run ON metrics(run_id);
  CREATE INDEX IF NOT EXISTS samples_run ON samples(run_id);
  CREATE INDEX IF NOT EXISTS flags_run ON flags(run_id);
  CREATE VIEW IF NOT EXISTS sweeps AS
    SELECT sweep_id AS id, MIN(started) AS started, COUNT(*) AS runs FROM runs WHERE sweep_id <> '' GROUP BY sweep_id;
  PRAGMA user_version = 2;
)sql";

// WAL needs shared memory between its users, which file systems over a network don't give (sqlite.org/wal.html).
bool over_network(const std::filesystem::path& folder) {
  struct statfs info {};
  if (::statfs(folder.c_str(), &info) != 0) return true;
  switch (static_cast<unsigned long>(info.f_type)) {
    case 0x6969:      // NFS
    case 0x0bd00bd0:  // Lustre
    case 0x47504653:  // GPFS
    case 0x19830326:  // BeeGFS
    case 0xff534d42:  // CIFS
    case 0xfe534d42:  // SMB2
    case 0x01021997:  // 9p
    case 0x65735546:  // FUSE: unknown, so the careful choice
    case 0x00c36400:  // Ceph
      return true;
    default: return false;
  }
}

// Changes whenever the file is replaced: renaming brings a new inode even within the clock's resolution.
std::string stamp_of(const std::filesystem::path& path) {
  struct stat s {};
  if (::stat(path.c_str(), &s) != 0) return {};
  return fmt::format("{}:{}.{}:{}", s.st_ino, s.st_mtim.tv_sec, s.st_mtim.tv_nsec, s.st_size);
}

// The record less what a line of a list has no use for: a tenth of its size, and of the time to read it.
Json brief_json(const Record& r) {
  Record brief = r;
  brief.environment = brief.energy = brief.phases = brief.check = nullptr;
  brief.plan = r.plan.is_object() && r.plan.contains("precision") ? Json{{"precision", r.plan.at("precision")}} : Json();
  if (r.status != Status::running) brief.process = nullptr;
  brief.repro.clear();
  brief.tail.clear();
  for (Flag& f : brief.flags) f.detail.clear();
  std::erase_if(brief.metrics, [](const auto& m) {
    return m.first != "images_per_s" && m.first != "tokens_per_s" && m.first != "loss_first" && m.first != "loss_last";
  });
  Json json = to_json(brief);
  if (r.spec.is_object())
    for (const char* table : {"measure", "layout", "energy"}) json["spec"].erase(table);
  return json;
}

std::optional<double> finite(double x) { return std::isfinite(x) ? std::optional(x) : std::nullopt; }

bool has_labels(const Record& r, const Store::Query& query) {
  const Json labels = r.spec.is_object() && r.spec.contains("labels") ? r.spec.at("labels") : Json();
  return std::all_of(query.labels.begin(), query.labels.end(), [&](const auto& wanted) {
    return labels.is_object() && labels.contains(wanted.first) && labels.at(wanted.first) == wanted.second;
  });
}

}  // namespace

void Index::refresh() {
  const std::string path = (folder_ / "index.db").string();
  for (int tries = 0; tries < 2 && !unusable_; ++tries) {
    try {
      open(path);
      return update();
    } catch (const SqliteError& e) {
      db_.reset();
      if (e.damaged()) remove_files();
    }
  }
  // Read-only folder, full disk, locks that don't work, damage that comes back.
  open(":memory:");
  update();
}

void Index::discard() {
  db_.reset();
  remove_files();
  unusable_ = true;
}

void Index::remove_files() const {
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm", "-journal"})
    std::filesystem::remove(folder_ / (std::string("index.db") + suffix), ignored);
}

void Index::open(const std::string& path) {
  db_ = std::make_unique<Database>(path);
  const char* journal = over_network(folder_) ? "PRAGMA journal_mode=DELETE" : "PRAGMA journal_mode=WAL";
  Statement(*db_, journal).run();
  Transaction change(*db_);
  Statement read_version(*db_, "PRAGMA user_version");
  read_version.step();
  const int64_t found = read_version.integer(0);
  read_version.reset();
  if (found != version) db_->execute(drop);
  db_->execute(tables);
  change.commit();
}

void Index::update() {
  std::map<std::string, std::string> known;
  for (Statement rows(*db_, "SELECT id, stamp FROM runs"); rows.step();) known[rows.text(0)] = rows.text(1);

  std::vector<std::pair<Record, std::string>> changed;
  for (const std::string& id : stored_ids(folder_)) {
    const std::string stamp = stamp_of(record_path(folder_, id));
    const auto old = known.find(id);
    if (old != known.end() && old->second == stamp) {
      known.erase(old);
      continue;
    }
    try {
      Record record = read_record(folder_, id);
      read_samples(folder_, record);
      changed.emplace_back(std::move(record), stamp);
    } catch (const Error& e) { fmt::print(stderr, "ergometer: left out: {}\n", e.what()); }
  }
  if (changed.empty() && known.empty()) return;  // what is still in `known` has changed, broken or gone

  Transaction change(*db_);
  for (const auto& [id, stamp] : known) remove(id);
  for (const auto& [record, stamp] : changed) add(record, stamp);
  change.commit();
}

void Index::remove(const std::string& id) {
  for (const char* sql : {"DELETE FROM runs WHERE id = ?", "DELETE FROM metrics WHERE run_id = ?", "DELETE FROM samples WHERE run_id = ?",
                          "DELETE FROM flags WHERE run_id = ?"})
    Statement(*db_, sql).bind(1, id).run();
}

void Index::add(const Record& r, const std::string& stamp) {
  remove(r.id);  // another ergometer may have added it since we looked
  const std::string name = r.spec.is_object() ? r.spec.value("name", "") : "";
  Statement(*db_, "INSERT INTO runs VALUES(?,?,?,?,?,?,?,?,?)")
      .bind(1, r.id)
      .bind(2, r.sweep_id)
      .bind(3, r.spec_hash)
      .bind(4, std::string(name_of(r.status)))
      .bind(5, r.started)
      .bind(6, name)
      .bind(7, to_json(r).dump())
      .bind(8, brief_json(r).dump())
      .bind(9, stamp)
      .run();
  Statement metric(*db_, "INSERT INTO metrics VALUES(?,?,?,?,?,?,?,?)");
  for (const auto& [metric_name, m] : r.metrics) {
    metric.bind(1, r.id).bind(2, metric_name).bind(3, m.value).bind(4, m.unit);
    if (m.ci95) metric.bind(5, std::optional(m.ci95->first)).bind(6, std::optional(m.ci95->second));
    metric.bind(7, m.n).bind(8, m.reason).run();
  }
  Statement sample(*db_, "INSERT INTO samples VALUES(?,?,?,?)");
  for (size_t i = 0; i < r.step_times.size(); ++i)
    sample.bind(1, r.id)
        .bind(2, int64_t(i))
        .bind(3, finite(r.step_times[i]))
        .bind(4, i < r.losses.size() ? finite(r.losses[i]) : std::nullopt)
        .run();
  Statement flag(*db_, "INSERT INTO flags VALUES(?,?,?)");
  for (const Flag& f : r.flags) flag.bind(1, r.id).bind(2, f.code).bind(3, f.detail).run();
}

std::vector<Record> Index::records(const Store::Query& query) {
  // The newest `limit`, then turned round; LIMIT -1 is none. Labels are looked at here, because their names can be anything.
  Statement rows(*db_, (std::string("SELECT ") + (query.brief ? "brief" : "record") +
                        " FROM runs WHERE (?1 = '' OR sweep_id = ?1) AND (?2 = '' OR spec_hash = ?2) ORDER BY id DESC LIMIT ?3")
                           .c_str());
  const bool by_sql = query.limit > 0 && query.labels.empty();
  rows.bind(1, query.sweep_id).bind(2, query.spec_hash).bind(3, int64_t(by_sql ? query.limit : -1));
  std::vector<Record> records;
  while (rows.step() && (query.limit <= 0 || records.size() < size_t(query.limit))) {
    Record r = record_from_json(Json::parse(rows.text(0)));
    if (has_labels(r, query)) records.push_back(std::move(r));
  }
  std::reverse(records.begin(), records.end());
  return records;
}

}  // namespace erg
