// From what was measured to a record's metrics (DESIGN §6). Every metric of the catalogue that fits the workload is there: with a value,
// or unavailable with its reason.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "run/host_use.hpp"
#include "run/measure.hpp"

namespace erg {

struct Measurements {
  Window window;
  HostSample begin, end;           // at the window's edges
  std::string sample_unit;         // "images" or "tokens"
  int64_t threads = 1;             // that the engine may use
  double mean_resident_bytes = 0;  // over the window; 0 when it was never read
  int64_t peak_arena_bytes = 0;
  std::optional<int64_t> peak_resident_bytes;
  std::optional<Validation> validation;
  std::string no_validation;           // why there is none
  std::vector<std::string> no_energy;  // what each sensor said
};

std::map<std::string, Metric> run_metrics(const Spec& spec, const Plan& plan, const Measurements& measurements);

// The score of a run that is not valid: speed metrics lose their values, losses and memory stay as evidence.
void withhold_speed(std::map<std::string, Metric>& metrics, const std::string& reason);

// data_bound: waiting for batches took over 5 % of the window.
std::vector<Flag> window_flags(const Window& window);

}  // namespace erg
