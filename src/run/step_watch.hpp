// Reads after every step what the host did to it, so cheaply that the window does not notice.
#pragma once
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "run/host_use.hpp"
#include "run/outliers.hpp"

namespace erg {

// Page faults and preemptions come from getrusage, about a microsecond a step. Steal and throttling stand in /proc and /sys, whose reading
// takes from 0.05 to a few ms with the number of CPUs: they are read at most ten times a second and for at most 0.2 % of the time,
// and a reading counts for every step since the one before.
class StepWatch {
 public:
  explicit StepWatch(const Clock& clock, std::string root = "") : clock_(clock), root_(std::move(root)) {}
  void begin();  // the window begins: forget what was before
  void step();   // a step has ended
  void end();    // the window has ended: the last steps get their reading
  const std::vector<StepHost>& steps() const { return steps_; }

 private:
  void read_host();

  const Clock& clock_;
  std::string root_;
  std::vector<StepHost> steps_;
  HostSample last_;
  int64_t faults_ = 0, preemptions_ = 0;
  size_t read_until_ = 0;
  double next_ = 0;
};

}  // namespace erg
