// index.db: the records of a results folder in SQLite, for fast listing and for people who like SQL. Never the truth: it is brought up
// to date from the files before each use and can be deleted at any time.
//   runs(id, sweep_id, spec_hash, status, started, name, record, brief, stamp)   record: record.json as text; brief: of it, what a list
//   shows metrics(run_id, name, value, unit, ci_low, ci_high, n, reason) samples(run_id, step, time_s, loss)   flags(run_id, code, detail)
//   sweeps(id, started, runs)
#pragma once
#include <filesystem>
#include <memory>
#include <vector>

#include "store/sqlite.hpp"
#include "store/store.hpp"

namespace erg {

class Index {
 public:
  explicit Index(std::filesystem::path folder) : folder_(std::move(folder)) {}
  // Opens it and reads the runs whose files changed. A damaged index is made anew; one that can't be written lives in memory.
  void refresh();
  void discard();  // closes and removes it, where it can be removed; what cannot be is not used again
  // After refresh(): oldest first, without samples.
  std::vector<Record> records(const Store::Query& query);

 private:
  void open(const std::string& path);
  void update();
  void remove_files() const;
  void add(const Record& record, const std::string& stamp);
  void remove(const std::string& id);

  std::filesystem::path folder_;
  std::unique_ptr<Database> db_;
  bool unusable_ = false;  // discarded once: from then on in memory
};

}  // namespace erg
