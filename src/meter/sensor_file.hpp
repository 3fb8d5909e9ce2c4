// One number in a file of /sys: what a reading is made of, and the reason where there is none.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "meter/meter.hpp"

namespace erg {

struct FileValue {
  std::optional<int64_t> value;  // not negative
  std::string reason;            // "no_permission", "masked_by_container", "sensor_missing" or "not_supported", when there is no value
};
// The whole file must be one number: half a number, a sign or text is not_supported. A link whose target is hidden, as Docker does
// with /sys/devices/virtual/powercap, is masked_by_container.
FileValue read_sensor_file(const std::filesystem::path& path);

std::string sensor_text(const std::filesystem::path& path);  // first line, trimmed; "" when it cannot be read

// A meter that reads one file in millionths of J or W. A power above 5 kW is no reading (energy_cases.md T4).
std::unique_ptr<Meter> file_meter(MeterInfo info);  // info.path: the file

// Folders below `folder` whose name begins with `prefix`, in the order of the numbers in their names: hwmon10 after hwmon9.
std::vector<std::filesystem::path> numbered_folders(const std::filesystem::path& folder, const std::string& prefix);

}  // namespace erg
