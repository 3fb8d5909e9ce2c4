// From what was measured to a record's metrics (DESIGN §6). Every metric of the catalogue that fits the workload is there: with a value,
// or unavailable with its reason.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "meter/energy.hpp"
#include "plan/plan.hpp"
#include "run/host_use.hpp"
#include "run/measure.hpp"
#include "run/outliers.hpp"
#include "run/probe.hpp"

namespace erg {

struct Measurements {
  Window window;
  HostSample begin, end;            // at the window's edges
  std::vector<StepHost> step_host;  // a step of the window each
  std::string sample_unit;          // "images" or "tokens"
  int64_t threads = 1;              // that the engine may use
  double mean_resident_bytes = 0;   // over the window; 0 when it was never read
  int64_t peak_arena_bytes = 0;
  std::optional<int64_t> peak_resident_bytes;
  std::optional<Validation> validation;
  std::string no_validation;  // why there is none
  ProbePeak probe;            // the measured peak of this machine
  WindowEnergy energy;        // its reason says what each sensor said where there is none
};

std::map<std::string, Metric> run_metrics(const Spec& spec, const Plan& plan, const Measurements& measurements);

// The score of a run that is not valid: speed metrics lose their values, losses and memory stay as evidence.
void withhold_speed(std::map<std::string, Metric>& metrics, const std::string& reason);

// What stands in the record's `statistics`: outliers with their causes, drift, correlation, page faults and preemptions (docs/record.md).
Json window_statistics(const Measurements& measurements);

// probe_exceeded: mfu_probe is over 1.05, so that the probe is older or slower than this machine now, or FLOPs are counted wrongly.
std::vector<Flag> probe_flags(const std::map<std::string, Metric>& metrics);

// data_bound: waiting for batches took over 5 % of the window. drift: the trend is significant (p < 0.01) and changes the step time by over
// 1 % from the window's begin to its end. outliers: over 5 % of the steps.
std::vector<Flag> window_flags(const Measurements& measurements);

}  // namespace erg
