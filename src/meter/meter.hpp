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
  double range_j = 0;               // a counter's largest value, after which it starts again; 0 when unknown
  std::string not_added = {};       // why its joules are not part of the sum, "inside package-0"; empty: they are
  std::string path = {};            // where it is read
};

struct MeterReading {
  double time_s = 0;  // of the steady clock
  double value = 0;   // J for counters, W for power
};

class Meter {
 public:
  virtual ~Meter() = default;
  virtual MeterInfo info() const = 0;
  virtual std::optional<MeterReading> read() = 0;  // nullopt: unavailable just now
};

// A method, or some of its sensors, that cannot be used here.
struct NoSensor {
  std::string method, reason, fix = {};                        // "rapl", "/sys/class/powercap/intel-rapl is not there", a command or ""
  std::string text() const { return method + ": " + reason; }  // without the fix
};

struct MeterSet {
  std::vector<std::unique_ptr<Meter>> meters;
  std::vector<NoSensor> unavailable;
};

// ERGOMETER_SYSFS_ROOT, which --sysfs-root sets for this process and its children, or /sys.
std::string sysfs_root();

// methods: "auto" for all, "none", or names: "rapl", "hwmon". sysfs_root stands for /sys. Of sensors that contain each other, at most
// one level is added: of the CPU packages (with dram), else Grace, module, platform, node, the first that is there.
MeterSet open_meters(const std::vector<std::string>& methods, const std::string& sysfs_root = "/sys");

}  // namespace erg
