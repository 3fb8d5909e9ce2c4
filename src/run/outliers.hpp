// Which steps stand out, and what is known to have happened during them (METHOD §1: counted and, where known, explained; never removed).
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace erg {

inline constexpr double outlier_z = 3.5;  // of the modified z-score (Iglewicz & Hoaglin 1993)

// What the host did to this process during one step.
struct StepHost {
  int64_t major_faults = 0;     // pages read from disk
  int64_t preemptions = 0;      // involuntary context switches, all threads
  double stolen_s = 0;          // CPU time taken by the hypervisor
  int64_t throttle_events = 0;  // thermal, of this run's CPUs
  bool operator==(const StepHost&) const = default;
};

struct Outlier {
  size_t step;   // of the window, from 0
  double z;      // modified z-score; infinite where most steps took exactly the same time
  double ratio;  // its time / the median
  std::string cause;
};

// In the order of the steps. The cause is the first that holds, excess being the step's time above the median:
//   fast              it took less than the median: nothing is to be explained
//   data_wait         it waited at least half of the excess longer for its batch than the median step
//   throttling        the kernel counted thermal throttling
//   cpu_steal         the hypervisor took at least half of the excess
//   page_faults       more major faults than the median step
//   context_switches  its count of preemptions is an outlier itself, above the median
//   unknown           none of these
// `waits` and `host` may be shorter than `times` (what was not read explains nothing).
std::vector<Outlier> find_outliers(std::span<const double> times, std::span<const double> waits, std::span<const StepHost> host);

}  // namespace erg
