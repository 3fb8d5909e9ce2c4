// Zones are intel-rapl:N and their parts intel-rapl:N:M; intel-rapl-mmio shows some of them a second time. The number is not the socket:
// the name is. AMD's processors use the same files.
#include "meter/rapl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "meter/sensor_file.hpp"

namespace erg {
namespace {

namespace fs = std::filesystem;

std::string scope_of(const std::string& name) {
  if (name.starts_with("package")) return "package";
  return name == "psys" ? "platform" : name;  // dram, core, uncore
}

bool is_part(const fs::path& zone) { return std::ranges::count(zone.filename().string(), ':') == 2; }

// The domain's name in words that are unique on this host: "package-0", "package-0/dram".
std::string domain_of(const fs::path& zone, const std::string& name) {
  if (!is_part(zone)) return name;
  const std::string id = zone.filename();
  return sensor_text(zone.parent_path() / id.substr(0, id.rfind(':')) / "name") + "/" + name;
}

MeterInfo info_of(const fs::path& zone, const std::string& name) {
  MeterInfo info{.name = "rapl", .domain = domain_of(zone, name), .scope = scope_of(name), .counter = true, .period_s = 1e-3};
  info.path = (zone / "energy_uj").string();
  if (const auto range = read_sensor_file(zone / "max_energy_range_uj").value) info.range_j = 1e-6 * double(*range);
  if (info.scope == "core" || info.scope == "uncore") info.not_added = "inside " + info.domain.substr(0, info.domain.find('/'));
  return info;
}

NoSensor refused(const std::string& reason, const std::vector<std::string>& domains, const fs::path& powercap) {
  const std::string what = fmt::format("{}: {}", reason, fmt::join(domains, ", "));
  if (reason == "no_permission")
    return {"rapl", what + (domains.size() == 1 ? " is" : " are") + " readable by root only",
            fmt::format("sudo chmod -R a+r {}/intel-rapl*  (until the next boot; every user can then watch the power, which has leaked "
                        "secrets: CVE-2020-8694)",
                        powercap.string())};
  if (reason == "masked_by_container")
    return {"rapl", what + " hidden by the container",
            "mount the host's /sys read-only at another place and give it as --sysfs-root (docker run -v /sys:/host/sys:ro)"};
  return {"rapl", what + " cannot be read"};
}

}  // namespace

void open_rapl(MeterSet& set, const std::string& sysfs_root) {
  const fs::path powercap = fs::path(sysfs_root) / "class/powercap";
  std::vector<fs::path> zones = numbered_folders(powercap, "intel-rapl:");
  for (const fs::path& zone : numbered_folders(powercap, "intel-rapl-mmio:")) zones.push_back(zone);
  if (zones.empty()) {
    std::error_code error;
    const fs::path control = powercap / "intel-rapl";
    set.unavailable.push_back({"rapl", fs::exists(control, error) ? fmt::format("{} has no domains", control.string())
                                                                  : fmt::format("{} is not there", control.string())});
    return;
  }
  std::map<std::string, std::vector<std::string>> unreadable;
  std::vector<std::string> seen;
  for (const fs::path& zone : zones) {
    const std::string name = sensor_text(zone / "name");
    const MeterInfo info = info_of(zone, name.empty() ? zone.filename().string() : name);
    if (std::ranges::find(seen, info.domain) != seen.end()) continue;
    if (const FileValue now = read_sensor_file(info.path); !now.value) {
      unreadable[now.reason].push_back(info.domain);
      continue;
    }
    seen.push_back(info.domain);
    set.meters.push_back(file_meter(info));
  }
  for (const auto& [reason, domains] : unreadable) set.unavailable.push_back(refused(reason, domains, powercap));
}

}  // namespace erg
