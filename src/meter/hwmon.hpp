// Energy and power sensors of drivers below /sys/class/hwmon: amd_energy, ACPI power meters (Grace), xgene, amdgpu and others.
#pragma once
#include <string>

#include "meter/meter.hpp"

namespace erg {

// Adds every energyN_input (J) and powerN_average or powerN_input (W). Which scope a sensor has is known by driver and label; what is not
// known is shown as scope "unknown" and never added.
void open_hwmon(MeterSet& set, const std::string& sysfs_root);

}  // namespace erg
