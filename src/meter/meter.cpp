// Opens the sensors that were asked for, from one table of methods, and settles which of them may be added up.
#include "meter/meter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "meter/hwmon.hpp"
#include "meter/rapl.hpp"

namespace erg {
namespace {

struct Method {
  const char* name;
  void (*open)(MeterSet& set, const std::string& sysfs_root);
};
constexpr std::array methods_known = {Method{"rapl", open_rapl}, Method{"hwmon", open_hwmon}};

// Each contains the one before it.
constexpr std::array levels = {"package", "grace", "module", "platform", "node"};

// A meter whose joules the set does not add, whatever its driver said.
class Beside final : public Meter {
 public:
  Beside(std::unique_ptr<Meter> meter, std::string why) : meter_(std::move(meter)), why_(std::move(why)) {}
  MeterInfo info() const override {
    MeterInfo i = meter_->info();
    i.not_added = why_;
    return i;
  }
  std::optional<MeterReading> read() override { return meter_->read(); }

 private:
  std::unique_ptr<Meter> meter_;
  std::string why_;
};

// Nothing is added twice: one level of those that contain each other, and of two sensors of one domain the counter, which comes first.
void settle_sum(std::vector<std::unique_ptr<Meter>>& meters) {
  std::stable_sort(meters.begin(), meters.end(), [](const auto& a, const auto& b) { return a->info().counter > b->info().counter; });
  const auto level_of = [](const MeterInfo& i) { return std::ranges::find(levels, i.scope) - levels.begin(); };
  std::ptrdiff_t level = levels.size();
  for (const auto& m : meters)
    if (m->info().not_added.empty()) level = std::min(level, level_of(m->info()));
  std::vector<std::string> domains;
  for (auto& m : meters) {
    const MeterInfo info = m->info();
    if (!info.not_added.empty()) continue;
    std::string why;
    if (std::ranges::find(domains, info.domain) != domains.end())
      why = "measured by another sensor too";
    else if (info.scope == "dram" && level == std::ptrdiff_t(levels.size()))
      why = "no processor is measured beside it";
    else if (info.scope == "dram" && level != 0)
      why = fmt::format("inside the {}", levels[size_t(level)]);
    else if (level_of(info) != level && info.scope != "dram")
      why = fmt::format("contains the {}", levels[size_t(level)]);
    domains.push_back(info.domain);
    if (!why.empty()) m = std::make_unique<Beside>(std::move(m), why);
  }
}

}  // namespace

std::string sysfs_root() {
  const char* root = std::getenv("ERGOMETER_SYSFS_ROOT");
  return root && *root ? root : "/sys";
}

MeterSet open_meters(const std::vector<std::string>& methods, const std::string& sysfs_root) {
  MeterSet set;
  for (const std::string& name : methods) {
    if (name == "none") {
      set.unavailable.push_back({"energy", "was not asked for (methods = [\"none\"])", {}});
      continue;
    }
    bool known = false;
    for (const Method& method : methods_known) {
      if (name != "auto" && name != method.name) continue;
      known = true;
      method.open(set, sysfs_root);
    }
    if (!known) set.unavailable.push_back({name, "this version of ergometer has no reader for it (it has rapl and hwmon)", {}});
  }
  if (methods.empty()) set.unavailable.push_back({"energy", "was not asked for (methods = [])", {}});
  settle_sum(set.meters);
  return set;
}

}  // namespace erg
