// Power and energy sensors as a door. What cannot be read is `unavailable` with a reason, never 0.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace erg {

struct MeterInfo {
  std::string name, domain, scope;  // "rapl", "package-0", "package"
  bool counter = false;             // energy counter (J) or power (W)
  double period_s = 0;              // update period, 0 when unknown
};

struct MeterReading {
  double time_s = 0;
  double value = 0;
};  // J for counters, W for power

class Meter {
 public:
  virtual ~Meter() = default;
  virtual MeterInfo info() const = 0;
  virtual std::optional<MeterReading> read() = 0;  // nullopt: unavailable just now
};

struct MeterSet {
  std::vector<std::unique_ptr<Meter>> meters;
  std::vector<std::string> unavailable;  // "rapl: /sys/class/powercap is not there"
};
MeterSet open_meters(const std::vector<std::string>& methods, const std::string& sysfs_root = "/sys");

}  // namespace erg
