// Sweeps: stored first, then run point by point, each point in a child process of this binary. Resuming one is running it again: points
// that are done are left alone, and so are those that another process has claimed.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "run/child_progress.hpp"
#include "run/claims.hpp"

namespace erg {

// Who watches a sweep. Points are counted from 0.
class SweepWatcher {
 public:
  virtual ~SweepWatcher() = default;
  virtual void begin(const std::vector<std::string>& titles) = 0;
  virtual void finished(size_t point, const Record& record, bool before) = 0;  // before: by an earlier sweep or resume
  virtual void elsewhere(size_t point, const Record& record) = 0;              // another process is running it
  virtual void running(size_t point, const ChildProgress& progress, double left_s) = 0;
  virtual void message(const std::string& line) = 0;  // lines to keep
};

struct SweepOptions {
  SweepWatcher& watcher;
  RetryRule retry;
  int max_failures = 0;  // end after so many points have failed now; 0: go on whatever happens
  std::string program;   // empty: this binary
};

struct SweepResult {
  std::vector<Record> records;     // the last of every point that has one, in order
  size_t open = 0, elsewhere = 0;  // points without a result: not run, and being run by another process
};

// A new one, stored in the folder before anything runs. Throws Error(usage) for a bad launcher.
StoredSweep store_sweep(std::vector<SweepPoint> points, const std::string& launcher, Store& store);

// Runs what is to be run. Throws Error(failed) when results cannot be stored: then nothing more is begun.
SweepResult run_sweep(const StoredSweep& sweep, Store& store, const SweepOptions& options);

std::string title_of(const SweepPoint& point);  // "gpt-117m global_batch=4 #2"

}  // namespace erg
