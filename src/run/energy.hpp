// The energy of one run's window: sensors opened, watched from before warm-up to after the window, and told in the record.
#pragma once
#include <vector>

#include "meter/energy.hpp"
#include "meter/sampler.hpp"
#include "spec/spec.hpp"
#include "store/record.hpp"

namespace erg {

// Without a sensor every call returns at once.
class EnergyWatch {
 public:
  explicit EnergyWatch(const EnergySpec& spec);

  // Starts reading, and waits until two seconds of readings will lie before a window that begins after warmup_s.
  void start(double warmup_s);
  void begin();  // at the window's edges, when the device has finished: sensors and clock back to back
  void end();
  void cool();  // two more seconds of readings, shorter when interrupted
  WindowEnergy result();
  const std::vector<NoSensor>& unavailable() const { return unavailable_; }

 private:
  EnergyWatch(const EnergySpec& spec, MeterSet set);

  double interval_s_, begin_s_ = 0, end_s_ = 0;
  std::vector<NoSensor> unavailable_;
  Sampler sampler_;
};

// A record's "energy": {"total_j", "domains":[{"sensor", "domain", "scope", "quality", "energy_j", ...}], "not_included":[...]}.
Json energy_json(const WindowEnergy& energy, const std::vector<NoSensor>& unavailable);
std::vector<Flag> energy_flags(const WindowEnergy& energy);

}  // namespace erg
