// Facts about the processor: one small function each.
#include <fmt/format.h>

#include <array>
#include <set>
#include <sstream>

#include "run/fact_files.hpp"
#include "run/host_facts.hpp"

namespace erg {
using namespace facts;
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> cpu_folders(const std::string& root) { return numbered(root + "/sys/devices/system/cpu", "cpu"); }

// Different values of one file over all CPUs, in words.
std::string over_cpus(const std::string& root, const std::string& file) {
  std::set<std::string> values;
  for (const fs::path& cpu : cpu_folders(root))
    if (const std::string value = first_line((cpu / file).string()); value != unknown) values.insert(value);
  return values.empty() ? unknown : fmt::format("{}", fmt::join(values, " "));
}

// Sockets and cores by the kernel's topology; a core is (package, core) because core ids repeat in every package.
Json topology(const std::string& root) {
  std::set<std::string> packages;
  std::set<std::pair<std::string, std::string>> cores;
  const auto folders = cpu_folders(root);
  for (const fs::path& cpu : folders) {
    const std::string package = first_line((cpu / "topology/physical_package_id").string()),
                      core = first_line((cpu / "topology/core_id").string());
    if (package == unknown || core == unknown) continue;
    packages.insert(package);
    cores.emplace(package, core);
  }
  if (cores.empty()) return {{"sockets", unknown}, {"cores", unknown}, {"threads", unknown}, {"smt", unknown}};
  return {{"sockets", packages.size()}, {"cores", cores.size()}, {"threads", folders.size()}, {"smt", folders.size() > cores.size()}};
}

Json caches(const std::string& root) {
  Json found = Json::object();
  for (int i = 0; i < 8; ++i) {
    const std::string folder = fmt::format("{}/sys/devices/system/cpu/cpu0/cache/index{}/", root, i);
    const std::string level = first_line(folder + "level"), type = first_line(folder + "type"), size = first_line(folder + "size");
    if (level == unknown || size == unknown || type == "Instruction") continue;
    found[type == "Data" ? "l" + level + "d" : "l" + level] = size;
  }
  return found.empty() ? Json(unknown) : found;
}

// Of the hundreds of flags, those that decide which kernels run.
Json instruction_sets(const Pairs& cpuinfo) {
  static constexpr std::array relevant = {"sse4_2",   "avx",         "avx2",        "fma",         "f16c",     "avx512f",  "avx512bw",
                                          "avx512vl", "avx512_vnni", "avx512_bf16", "avx512_fp16", "avx_vnni", "amx_tile", "amx_bf16",
                                          "amx_int8", "asimd",       "sve",         "sve2",        "bf16",     "i8mm"};
  std::string flags = value_or_unknown(cpuinfo, "flags");
  if (flags == unknown) flags = value_or_unknown(cpuinfo, "Features");
  if (flags == unknown) return unknown;
  std::istringstream words(flags);
  std::set<std::string> all;
  for (std::string word; words >> word;) all.insert(word);
  Json found = Json::array();
  for (const char* name : relevant)
    if (all.count(name)) found.push_back(name);
  return found;
}

// Intel's switch says "no turbo", everyone else's says "boost"; AMD's newer driver has one for each policy.
std::string turbo(const std::string& root) {
  const std::string no_turbo = first_line(root + "/sys/devices/system/cpu/intel_pstate/no_turbo");
  if (no_turbo != unknown) return no_turbo == "0" ? "on" : "off";
  for (const char* file : {"cpufreq/boost", "cpu0/cpufreq/boost"})
    if (const std::string boost = first_line(fmt::format("{}/sys/devices/system/cpu/{}", root, file)); boost != unknown)
      return boost == "1" ? "on" : "off";
  return unknown;
}

Json numa_nodes(const std::string& root) {
  const size_t nodes = numbered(root + "/sys/devices/system/node", "node").size();
  return nodes ? Json(nodes) : Json(unknown);
}

// Of the highest level, every cache once: CPUs that share one have the same list.
Json last_level_cache_bytes(const std::string& root) {
  std::map<std::string, int64_t> caches;  // shared_cpu_list -> bytes
  int64_t highest = 0;
  for (const fs::path& cpu : cpu_folders(root))
    for (const fs::path& index : numbered((cpu / "cache").string(), "index")) {
      const Json level = number_in((index / "level").string()), size = number_in((index / "size").string());
      const std::string text = first_line((index / "size").string());
      if (!level.is_number() || !size.is_number() || level.get<int64_t>() < highest) continue;
      if (level.get<int64_t>() > highest) caches.clear();
      highest = level;
      caches[first_line((index / "shared_cpu_list").string())] = size.get<int64_t>() << (text.back() == 'M'   ? 20
                                                                                         : text.back() == 'K' ? 10
                                                                                                              : 0);
    }
  int64_t bytes = 0;
  for (const auto& [list, size] : caches) bytes += size;
  return bytes > 0 ? Json(bytes) : Json(unknown);
}

// Sleep states that the idle driver may choose, deepest last.
Json idle_states(const std::string& root) {
  Json names = Json::array();
  for (int i = 0; i < 16; ++i) {
    const std::string state = fmt::format("{}/sys/devices/system/cpu/cpu0/cpuidle/state{}/", root, i), name = first_line(state + "name");
    if (name == unknown) break;
    names.push_back(name + (first_line(state + "disable") == "1" ? " (disabled)" : ""));
  }
  return names.empty() ? Json(unknown) : names;
}

// ARM processors have numbers in place of a name (Linux arch/arm64/include/asm/cputype.h).
std::string model(const Pairs& cpuinfo) {
  if (const std::string name = value_or_unknown(cpuinfo, "model name"); name != unknown) return name;
  const std::string implementer = value_or_unknown(cpuinfo, "CPU implementer"), part = value_or_unknown(cpuinfo, "CPU part");
  if (implementer == unknown || part == unknown) return unknown;
  static const Pairs names = {{"0x41 0xd0c", "Arm Neoverse-N1"}, {"0x41 0xd40", "Arm Neoverse-V1"}, {"0x41 0xd49", "Arm Neoverse-N2"},
                              {"0x41 0xd4f", "Arm Neoverse-V2"}, {"0x46 0x001", "Fujitsu A64FX"},   {"0xc0 0xac3", "Ampere-1"}};
  const auto known = names.find(implementer + " " + part);
  return known != names.end() ? known->second : fmt::format("ARM implementer {} part {}", implementer, part);
}

}  // namespace

Json cpu_facts(const std::string& root, const facts::Pairs& cpuinfo) {
  Json j = {{"model", model(cpuinfo)}};
  j.update(topology(root));
  j["numa_nodes"] = numa_nodes(root);
  j["instruction_sets"] = instruction_sets(cpuinfo);
  j["microcode"] = value_or_unknown(cpuinfo, "microcode");
  j["caches"] = caches(root);
  j["last_level_cache_bytes"] = last_level_cache_bytes(root);
  j["governor"] = governor(root);
  j["frequency_driver"] = over_cpus(root, "cpufreq/scaling_driver");
  j["min_khz"] = number_in(root + "/sys/devices/system/cpu/cpu0/cpufreq/scaling_min_freq");
  j["max_khz"] = number_in(root + "/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq");
  j["turbo"] = turbo(root);
  j["idle_driver"] = first_line(root + "/sys/devices/system/cpu/cpuidle/current_driver");
  j["idle_states"] = idle_states(root);
  return j;
}

std::string governor(const std::string& root) { return over_cpus(root, "cpufreq/scaling_governor"); }

}  // namespace erg
