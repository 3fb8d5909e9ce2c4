// What works on this machine, what spoils measurements here, and the command that mends it: facts first, then a table of checks over them.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "meter/meter.hpp"
#include "run/build_info.hpp"
#include "run/host_use.hpp"
#include "store/record.hpp"

namespace erg {

enum class Health { ok, warn, no, unknown };  // unknown is not bad

struct Finding {
  std::string name;
  Health health = Health::ok;
  std::string detail, fix = {};
  bool prevents_running = false;  // with Health::no: nothing can be measured like this
};

struct EngineState {
  std::string name, detail, fix;  // detail: what it is, or why it is not there
  bool there = false;
};

struct DoctorFacts {
  Json host;              // host_facts()
  HostSample begin, end;  // a moment apart: what others do right now
  std::vector<EngineState> engines;
  std::vector<MeterInfo> sensors;
  std::vector<NoSensor> no_sensors;
  std::optional<int64_t> shared_memory_bytes;  // size of /dev/shm
  std::string results;                         // the folder
  std::string results_error;                   // why it cannot be used; empty: it can
  std::string results_file_system;             // "nfs", "lustre" ... when it is a network's; empty: local; "unavailable"
  std::optional<int64_t> results_free_bytes;
  bool has_data = false;  // ./ergometer-data is there
  size_t device_files = 0;
  std::string device_files_error;
  BuildInfo build;
};

// root stands before /proc, /sys and /dev; sensors are looked for in sysfs_root(). Takes a third of a second, to see how busy the host is.
DoctorFacts gather_facts(const std::string& results, const std::string& root = "");

std::vector<Finding> diagnose(const DoctorFacts& facts);

std::string doctor_text(const std::vector<Finding>& findings);
Json doctor_json(const std::vector<Finding>& findings);  // {"checks":[{"name", "result", "detail", "fix"}], "can_run"}
bool can_run(const std::vector<Finding>& findings);

}  // namespace erg
