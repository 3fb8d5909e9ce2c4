// Opens the sensors that were asked for, from one table of methods.
#include "meter/meter.hpp"

#include <algorithm>
#include <array>

#include "core/error.hpp"
#include "meter/rapl.hpp"

namespace erg {
namespace {

struct Method {
  const char* name;
  void (*open)(MeterSet& set, const std::string& sysfs_root);
};
constexpr std::array methods_known = {Method{"rapl", open_rapl}};

}  // namespace

MeterSet open_meters(const std::vector<std::string>& methods, const std::string& sysfs_root) {
  MeterSet set;
  for (const std::string& name : methods) {
    if (name == "none") {
      set.unavailable.push_back("energy was not asked for (methods = [\"none\"])");
      continue;
    }
    bool known = false;
    for (const Method& method : methods_known) {
      if (name != "auto" && name != method.name) continue;
      known = true;
      method.open(set, sysfs_root);
    }
    if (!known) set.unavailable.push_back(name + ": this version of ergometer has no reader for it (it has rapl)");
  }
  if (methods.empty()) set.unavailable.push_back("energy was not asked for (methods = [])");
  return set;
}

}  // namespace erg
