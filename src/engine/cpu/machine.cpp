// Reads /proc and /sys/fs/cgroup. A container's quota and memory limit count as the machine: more threads than the quota allows are
// stopped by the scheduler in the middle of a step, and memory over the limit ends the process without a word.
#include "engine/cpu/machine.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <vector>

#include "core/cgroup.hpp"
#include "core/cores.hpp"
#include "engine/cpu/isa.hpp"
#include "engine/cpu/onednn.hpp"

namespace erg {
namespace {

constexpr int64_t unlimited = std::numeric_limits<int64_t>::max();

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

int64_t number_in(const std::string& path) {  // "max" and missing files: unlimited
  const std::string line = first_line(path);
  if (line.empty() || line[0] < '0' || line[0] > '9') return unlimited;
  return std::strtoll(line.c_str(), nullptr, 10);
}

int64_t cgroup_memory_left(const std::string& folder, const char* limit_file, const char* usage_file, const char* stat_key) {
  const int64_t limit = number_in(folder + limit_file), usage = number_in(folder + usage_file);
  if (limit == unlimited || usage == unlimited) return unlimited;
  std::ifstream stat(folder + "/memory.stat");  // page cache counts as used but is given back when needed
  std::string key;
  int64_t value = 0, cache = 0;
  while (stat >> key >> value) {
    if (key == stat_key) cache = value;
  }
  return std::max<int64_t>(0, limit - usage + cache);
}

}  // namespace

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) == 0) {
      const size_t at = line.find_first_not_of(" \t", line.find(':') + 1);
      if (at != std::string::npos) return line.substr(at);
    }
  }
  utsname name;
  return uname(&name) == 0 ? std::string(name.machine) + " processor" : "unknown processor";
}

std::vector<int> allowed_cores() {
  constexpr int most = 8192;
  cpu_set_t* set = CPU_ALLOC(most);
  const size_t size = CPU_ALLOC_SIZE(most);
  std::vector<int> cpus;
  if (sched_getaffinity(0, size, set) == 0)
    for (int cpu = 0; cpu < most; ++cpu)
      if (CPU_ISSET_S(cpu, size, set)) cpus.push_back(cpu);
  CPU_FREE(set);
  return one_cpu_per_core(cpus);  // hyperthreads share the units that we keep busy
}

int usable_cores() {
  const double allowed = double(allowed_cores().size());
  return std::max(1, int(std::min(allowed, std::ceil(cgroup_limits().cpus.value_or(allowed)))));
}

void stay_on(int cpu) {
  cpu_set_t* set = CPU_ALLOC(cpu + 1);
  const size_t size = CPU_ALLOC_SIZE(cpu + 1);
  CPU_ZERO_S(size, set);
  CPU_SET_S(cpu, size, set);
  sched_setaffinity(0, size, set);  // a wish; unpinned threads work too
  CPU_FREE(set);
}

int64_t address_space_left() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unlimited;
  std::ifstream file("/proc/self/statm");  // its first number: pages of address space
  int64_t pages = 0;
  file >> pages;
  return std::max<int64_t>(0, int64_t(limit.rlim_cur) - pages * sysconf(_SC_PAGESIZE));
}

int64_t available_memory() {
  int64_t left = unlimited;
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("MemAvailable:", 0) == 0) left = std::strtoll(line.c_str() + 13, nullptr, 10) * 1024;
  }
  for (const std::string& folder : cgroup_folders("memory", true)) {
    left = std::min(left, cgroup_memory_left(folder, "/memory.max", "/memory.current", "inactive_file"));
  }
  for (const std::string& folder : cgroup_folders("memory", false)) {
    left = std::min(left, cgroup_memory_left(folder, "/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file"));
  }
  return left;
}

Isa kernel_isa() {
#if defined(__x86_64__)
  static const Isa isa = [] {
    // oneDNN's own view honours ONEDNN_MAX_CPU_ISA; its values are sets of bits, each level holding those below.
    const int allowed = int(dnnl::get_effective_cpu_isa());
    const auto may = [&](dnnl::cpu_isa level) { return (allowed & int(level)) == int(level); };
    if (may(dnnl::cpu_isa::avx512_core_bf16) && __builtin_cpu_supports("avx512bf16")) return Isa::v4_bf16;
    if (may(dnnl::cpu_isa::avx512_core) && __builtin_cpu_supports("x86-64-v4")) return Isa::v4;
    if (may(dnnl::cpu_isa::avx2) && __builtin_cpu_supports("x86-64-v3")) return Isa::v3;
    return Isa::baseline;
  }();
  return isa;
#else
  return Isa::baseline;
#endif
}

}  // namespace erg
