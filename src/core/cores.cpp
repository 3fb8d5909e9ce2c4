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
    std::string siblings;
    for (const char* name : {"core_cpus_list", "thread_siblings_list"})  // since Linux 5.3, and before
      if (siblings.empty()) std::ifstream(topology / name) >> siblings;
    if (cores.insert(siblings.empty() ? std::to_string(cpu) : siblings).second) firsts.push_back(cpu);
  }
  return firsts;
}

}  // namespace erg
