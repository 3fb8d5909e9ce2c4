// Which points of a stored sweep are still to be run, judged from their records alone; and claiming one, so that any number of sweeps and
// resumes on any machines that share the folder never run a point twice.
#pragma once
#include <optional>
#include <set>
#include <string>

#include "store/store.hpp"
#include "store/sweep_file.hpp"

namespace erg {

// What counts as to be run again beside what is missing, was abandoned or was interrupted.
struct RetryRule {
  bool failed = false;               // FAILED, OOM and TIMEOUT too
  std::set<std::string> lost_hosts;  // whose processes are gone for sure: a RUNNING record from there is abandoned
};

struct PointState {
  enum class Kind { open, running, done } kind = Kind::open;
  int attempt = 0;               // the last one that has a record; 0: none
  std::optional<Record> record;  // of that attempt; nullopt also when its file is broken
  std::string broken;            // why it could not be read
};

PointState state_of(const Store& store, const StoredSweep& sweep, size_t point, const RetryRule& rule);

// The record that a claim writes and that stays when nothing more becomes known: RUNNING in our process, or SKIPPED.
Record claim_record(const StoredSweep& sweep, size_t point, int attempt);

}  // namespace erg
