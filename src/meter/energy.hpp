// From readings to the joules of a window (METHOD §5): counters unwrapped, powers integrated, and nothing made up where readings lack.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "meter/meter.hpp"

namespace erg {

// What one sensor said while it was watched, in the order of time.
struct MeterTrace {
  MeterInfo sensor;
  std::vector<MeterReading> readings;
  int64_t missing = 0;  // readings that failed
};

struct DomainEnergy {
  MeterInfo sensor;
  std::optional<double> energy_j;  // of the window
  std::string reason;              // "sampling_gap_exceeded: ..." when there is none
  int64_t readings = 0, missing = 0;
  double median_interval_s = 0, max_gap_s = 0;  // between readings around the window
};

// The energy between begin_s and end_s of the steady clock, linear between readings. Null with a reason of energy.md §3 when the window
// is not bracketed by readings, when the counter stands still (counter_stuck; windows of 1 s and more), falls without a known range
// (counter_decreased_unknown_range) or by so much that a wrap would mean over 5 kW (counter_reset), or when a gap between readings
// exceeds max(3 s, 5 x their lower median interval). A counter may have such a gap as long as 5 kW could not have wrapped it unseen.
DomainEnergy energy_of(const MeterTrace& trace, double begin_s, double end_s);

struct MeterFinding {
  std::string code, detail;  // a record's flag
};

struct WindowEnergy {
  std::vector<DomainEnergy> domains;
  std::optional<double> total_j;  // of the domains that may be added; null when one of them is
  std::string reason;
  std::vector<MeterFinding> findings;
};

// All sensors of one window. Two sensors of one domain check each other: over 5 % apart is counter_mismatch, and where the counter
// stands still (counter_stuck) the other one takes its place. window_short: under 5 s, or under 50 updates of a sensor.
WindowEnergy window_energy(const std::vector<MeterTrace>& traces, double begin_s, double end_s);

}  // namespace erg
