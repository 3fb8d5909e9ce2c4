// A table says which driver's label means what. Sources: amd/amd_energy README, Linux Documentation/hwmon/xgene-hwmon.rst and
// acpi_power_meter.rst, NVIDIA's Grace tuning guide, FZJ-JSC/jpwr src/jpwr/sys/gh.py.
#include "meter/hwmon.hpp"

#include <fmt/format.h>

#include <map>

#include "meter/sensor_file.hpp"

namespace erg {
namespace {

namespace fs = std::filesystem;

// A label that begins so, on this driver, is this scope. The number at its end is the socket.
struct Known {
  const char *driver, *label, *scope, *not_added;
};
constexpr Known known[] = {
    {"amd_energy", "Esocket", "package", ""},
    {"amd_energy", "Ecore", "core", "inside its package"},
    {"power_meter", "CPU Power Socket", "package", ""},
    {"power_meter", "Grace Power Socket", "grace", ""},
    {"power_meter", "Module Power Socket", "module", ""},
    {"power_meter", "SysIO Power Socket", "io", "of the links, not the processor"},
    {"xgene", "CPU power", "package", ""},
    {"xgene", "IO power", "io", "of the links, not the processor"},
    {"amdgpu", "", "gpu", "of a GPU, which is not what trains here"},
};

std::string digits_at_end(const std::string& text) {
  const size_t last = text.find_last_not_of("0123456789");
  return last == text.npos ? text : text.substr(last + 1);
}

MeterInfo info_of(const fs::path& folder, const std::string& driver, const std::string& label, const std::string& sensor) {
  MeterInfo info{.name = "hwmon", .domain = label.empty() ? fmt::format("{} {}", driver, sensor) : label, .scope = "unknown"};
  info.not_added = "what it measures is not known";
  for (const Known& k : known)
    if (driver == k.driver && label.starts_with(k.label)) {
      info.scope = k.scope;
      info.not_added = k.not_added;
      const std::string socket = digits_at_end(label);
      if (info.scope != "core" && info.scope != "gpu") info.domain = fmt::format("{}-{}", k.scope, socket.empty() ? "0" : socket);
      break;
    }
  if (info.scope == "gpu") info.domain = fmt::format("gpu {}", folder.filename().string());
  return info;
}

// The first of the files that is there.
fs::path first_of(const std::vector<fs::path>& files) {
  std::error_code error;
  for (const fs::path& file : files)
    if (fs::exists(file, error)) return file;
  return {};
}

void open_sensor(MeterSet& set, const fs::path& folder, const std::string& driver, const std::string& kind, int number,
                 std::map<std::string, int>& refused) {
  const std::string sensor = fmt::format("{}{}", kind, number);
  // Some drivers, ACPI's among them, keep their files in the device's folder.
  const fs::path file = first_of({folder / (sensor + "_average"), folder / "device" / (sensor + "_average"), folder / (sensor + "_input"),
                                  folder / "device" / (sensor + "_input")});
  if (file.empty()) return;
  const fs::path beside = file.parent_path();
  std::string label = sensor_text(beside / (sensor + "_label"));
  if (label.empty()) label = sensor_text(beside / (sensor + "_oem_info"));
  MeterInfo info = info_of(folder, driver, label, fmt::format("{} {}", folder.filename().string(), sensor));
  info.counter = kind == "energy";
  info.path = file.string();
  if (const auto ms = read_sensor_file(beside / (sensor + "_average_interval")).value) info.period_s = 1e-3 * double(*ms);
  if (const FileValue now = read_sensor_file(file); now.value)
    set.meters.push_back(file_meter(info));
  else
    ++refused[now.reason];
}

}  // namespace

void open_hwmon(MeterSet& set, const std::string& sysfs_root) {
  const fs::path hwmon = fs::path(sysfs_root) / "class/hwmon";
  const size_t before = set.meters.size();
  std::map<std::string, int> refused;
  for (const fs::path& folder : numbered_folders(hwmon, "hwmon")) {
    std::string driver = sensor_text(folder / "name");
    if (driver.empty()) driver = sensor_text(folder / "device/name");
    for (const char* kind : {"energy", "power"})
      for (int number = 1; number <= 512; ++number) {
        const size_t had = set.meters.size();
        const std::map<std::string, int> refused_before = refused;
        open_sensor(set, folder, driver, kind, number, refused);
        if (had == set.meters.size() && refused == refused_before && number > 8) break;  // numbers have small gaps at most
      }
  }
  for (const auto& [reason, count] : refused)
    set.unavailable.push_back(
        {"hwmon", fmt::format("{}: {} sensor{} below {} cannot be read", reason, count, count == 1 ? "" : "s", hwmon.string()),
         reason == "no_permission" ? fmt::format("sudo chmod a+r {}/hwmon*/energy*_input  (until the next boot; every user can then "
                                                 "watch the energy, which has leaked secrets: CVE-2020-12912)",
                                                 hwmon.string())
                                   : ""});
  if (set.meters.size() == before && refused.empty())
    set.unavailable.push_back({"hwmon", fmt::format("{} has no energy or power sensor", hwmon.string())});
}

}  // namespace erg
