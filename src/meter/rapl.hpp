// Intel's and AMD's running average power limit counters, as Linux shows them below /sys/class/powercap (energy.md §1.8).
#pragma once
#include <string>

#include "meter/meter.hpp"

namespace erg {

// Adds every readable domain to `set`: packages and dram to be added up, core and uncore (inside a package) and psys (around
// everything) beside them. What cannot be read is a reason with its fix.
void open_rapl(MeterSet& set, const std::string& sysfs_root);

}  // namespace erg
