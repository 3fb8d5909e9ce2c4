// Finds RAPL's package domains and says what stands between us and their counters.
#include "meter/rapl.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

namespace erg {

void open_rapl(MeterSet& set, const std::string& sysfs_root) {
  namespace fs = std::filesystem;
  const fs::path powercap = fs::path(sysfs_root) / "class/powercap";
  std::error_code error;
  if (!fs::exists(powercap / "intel-rapl", error)) {
    set.unavailable.push_back(fmt::format("rapl: {} is not there", (powercap / "intel-rapl").string()));
    return;
  }
  int domains = 0, readable = 0;
  for (const auto& entry : fs::directory_iterator(powercap, error)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("intel-rapl:")) continue;
    ++domains;
    int64_t microjoules;
    if (std::ifstream(entry.path() / "energy_uj") >> microjoules) ++readable;
  }
  set.unavailable.push_back(
      fmt::format("rapl: {} has {} domains, {} of them readable by this user, but this version of ergometer does not read them yet",
                  powercap.string(), domains, readable));
}

}  // namespace erg
