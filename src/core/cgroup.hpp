// What the control groups of this process allow: a container's or batch job's share of the machine. Versions 1 and 2.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace erg {

// The folders of this process's group for a controller ("cpu", "memory") and of its parents, whose limits bind as well; each may be
// missing. Version 2 has one hierarchy, perhaps below unified/; version 1 one per controller. root stands before /proc and /sys.
std::vector<std::string> cgroup_folders(const std::string& controller, bool v2, const std::string& root = "");

struct CgroupLimits {
  bool known = false;                   // some limit file could be read
  std::optional<double> cpus;           // the tightest quota / period; nullopt: no limit
  std::optional<int64_t> memory_bytes;  // the tightest
};
CgroupLimits cgroup_limits(const std::string& root = "");

}  // namespace erg
