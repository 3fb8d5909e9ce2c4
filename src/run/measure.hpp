// The measuring loop (METHOD §1 and §2): warm-up, settle, window, verdict. It knows "step", "sync" and "read", never the model.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "engine/engine.hpp"
#include "meter/meter.hpp"
#include "spec/spec.hpp"
#include "store/record.hpp"
#include "workload/workload.hpp"

namespace erg {

struct Window {
  std::vector<double> step_times, losses, data_waits;   // of measured steps only
  double warmup_s = 0, settle_s = 0, measure_s = 0;
  int64_t samples = 0, warmup_steps = 0, settle_steps = 0;
  double loss_first = 0;                                 // of the very first step
  bool settled = false;
  std::string stopped_by;                                // "precision", "noise_stable", "max_time", "duration", "interrupted"
  std::vector<Flag> flags;
};

using Progress = std::function<void(const std::string& phase, double done_fraction, const std::string& detail)>;

// Warm-up, settle and measure. Ends early, cleanly, when interrupted().
Window measure_window(Workload& workload, Engine& engine, const MeasureSpec& spec, Clock& clock, const Progress& progress);

// The whole of `ergometer run` for one point: plan, engine, check, prepare, window, validation, verdict, record. Does not throw for
// failures of the run itself: they become the record's status.
struct RunOptions { Progress progress; std::string sweep_id; std::vector<std::pair<std::string, std::string>> coordinates; std::string repro; };
Record run_once(const Spec& spec, class Store& store, const RunOptions& options);

// What this machine is (harness.md §7): unknown facts are "unavailable".
Json capture_environment();

// Runs every point in a child process of this binary, stores SKIPPED cells, returns the records in order.
struct SweepOptions { Progress progress; bool quiet = false; };
std::vector<Record> run_sweep(const std::vector<SweepPoint>& points, class Store& store, const SweepOptions& options);

}  // namespace erg
