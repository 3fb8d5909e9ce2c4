#include "core/cores.hpp"

#include <fstream>
#include <set>
#include <string>

namespace erg {

std::vector<int> one_cpu_per_core(const std::vector<int>& cpus, const std::filesystem::path& sysfs) {
  std::set<std::string> cores;
  std::vector<int> firsts;
  for (const int cpu : cpus) {
    const std::filesystem::path topology = sysfs / "devices/system/cpu" / ("cpu" + std::to_string(cpu)) / "topology";
    std::string package, core;
    std::ifstream(topology / "physical_package_id") >> package;
    std::ifstream(topology / "core_id") >> core;
    if (cores.insert(core.empty() ? "cpu " + std::to_string(cpu) : package + " " + core).second) firsts.push_back(cpu);
  }
  return firsts;
}

}  // namespace erg
