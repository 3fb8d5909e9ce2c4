// What the host did between two moments: our CPU time, other processes', time stolen by the hypervisor, clock steps, throttling.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "store/record.hpp"

namespace erg {

struct HostSample {
  double steady_s = 0, wall_s = 0;
  double own_cpu_s = 0;  // user + system time of this process, all threads
  int64_t major_faults = 0;
  // Of the CPUs this process may use, from /proc/stat; nullopt when it can't be read.
  std::optional<double> busy_s, stolen_s;
  std::optional<int64_t> throttle_events;  // of cores and packages; nullopt: the kernel does not tell
  int cpus = 0;
};

// root stands before /proc and /sys, for tests.
HostSample sample_host(const Clock& clock, const std::string& root = "");
int64_t resident_bytes();  // of this process; 0 when unknown
// Peak resident set since the process began or since reset_peak_resident().
std::optional<int64_t> peak_resident_bytes();
void reset_peak_resident();  // does nothing where the kernel has no way

// busy_host (others used over 5 % of our CPUs' time), cpu_steal (over 1 %), clock_step (over 0.1 s and 0.1 % of the time), throttled.
// What is unknown raises no flag.
std::vector<Flag> host_flags(const HostSample& begin, const HostSample& end);

}  // namespace erg
