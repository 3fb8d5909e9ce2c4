// Intel's and AMD's running average power limit counters, as Linux shows them below /sys/class/powercap.
#pragma once
#include <string>

#include "meter/meter.hpp"

namespace erg {

// Adds to `set` what RAPL has here: today only the reason why it cannot be used.
void open_rapl(MeterSet& set, const std::string& sysfs_root);

}  // namespace erg
