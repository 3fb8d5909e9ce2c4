// Which physical cores logical CPUs belong to, as Linux says in sysfs.
#pragma once
#include <filesystem>
#include <vector>

namespace erg {

// The first of these logical CPUs on each core: hyperthreads of a core count once. A CPU whose topology is not told counts as a core.
std::vector<int> one_cpu_per_core(const std::vector<int>& cpus, const std::filesystem::path& sysfs = "/sys");

}  // namespace erg
