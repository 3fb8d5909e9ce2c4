// One point of a sweep as a child process: how it is started, watched, and what its end means.
#pragma once
#include <functional>
#include <string>

#include "run/child_progress.hpp"
#include "spec/spec.hpp"
#include "store/store.hpp"

namespace erg {

struct ChildRun {
  const SweepPoint& point;
  Record claim;                   // as it was stored
  std::vector<std::string> argv;  // launcher and program, without the arguments of `run`
  bool launched;                  // by a launcher, which must be asked before it is killed
  std::function<void(const ChildProgress&)> on_progress;
  std::function<void(const std::string&)> on_message;  // what the child said
};

// Runs it to its end and returns its record, which is stored: the child's own, or what is known of a child that crashed, hung or was
// killed. Throws Error(failed) only when that cannot be stored.
Record run_point(const ChildRun& run, Store& store);

}  // namespace erg
