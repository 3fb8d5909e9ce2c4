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
  std::vector<double> step_times, losses, data_waits;  // of measured steps only
  std::vector<double> all_losses;                      // of every step since the initial weights: warm-up, settling, window
  double warmup_s = 0, settle_s = 0, measure_s = 0;
  int64_t samples = 0, warmup_steps = 0, settle_steps = 0;
  double loss_first = 0;  // of the very first step
  bool settled = false;
  std::string stopped_by;  // "precision", "noise_stable", "max_time", "duration", "interrupted", "loss_not_finite"
  std::vector<Flag> flags;
};

using Progress = std::function<void(const std::string& phase, double done_fraction, const std::string& detail)>;

// Called at the edges of the measured window, when the device has finished what came before: where counters, clocks and load are read.
struct WindowEdges {
  std::function<void()> begin, end;
  std::function<void()> step = {};  // after every measured step
};

// Warm-up, settle and measure. A step ends when the engine has finished and its loss is on the host: the declared point where a step
// waits. Ends early, cleanly, when interrupted(), and when a loss is not finite.
Window measure_window(Workload& workload, Engine& engine, const MeasureSpec& spec, Clock& clock, const Progress& progress,
                      const WindowEdges& edges = {});

// The whole of `ergometer run` for one point: plan, engine, check, prepare, window, validation, verdict, record. Does not throw for
// failures of the run itself: they become the record's status.
struct RunOptions {
  Progress progress = {};
  std::string id = {}, sweep_id = {};  // id empty: a new one
  std::vector<std::pair<std::string, std::string>> coordinates = {};
  Json sweep_process = {};  // of the sweep that started us; null: none
  bool profile = false;     // also tell where a step's time goes, and leave trace.json beside the record
};
Record run_once(const Spec& spec, class Store& store, const RunOptions& options);

// What this machine is (harness.md §7): unknown facts are "unavailable".
Json capture_environment();
Json engine_json(const EngineInfo& engine);  // its part of the environment

// The command that repeats this run on a machine with the same data: `ergometer run PRESET --set key=value ...`, every key that
// differs from the preset's. It gives a spec of the same hash.
std::string repro_line(const Spec& spec);

}  // namespace erg
