// One small function a fact. Every one reads files that may be missing: in containers, in virtual machines, on other architectures.
#include "run/host_facts.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "store/process_id.hpp"

namespace erg {
namespace {

namespace fs = std::filesystem;
const std::string unknown = "unavailable";

std::string trimmed(std::string s) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\0'; };
  while (!s.empty() && blank(s.back())) s.pop_back();
  s.erase(0, size_t(std::find_if_not(s.begin(), s.end(), blank) - s.begin()));
  return s;
}

std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  line = trimmed(line);
  return line.empty() ? unknown : line;
}

// The number in a file's first line, or "unavailable".
Json number_in(const std::string& path) {
  std::ifstream in(path);
  int64_t n;
  return in >> n ? Json(n) : Json(unknown);
}

// "key : value" or "KEY=value" lines; the first of each key.
std::map<std::string, std::string> pairs_in(const std::string& path, char separator) {
  std::map<std::string, std::string> pairs;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    const size_t at = line.find(separator);
    if (at == std::string::npos) continue;
    std::string value = trimmed(line.substr(at + 1));
    if (value.size() > 1 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    pairs.emplace(trimmed(line.substr(0, at)), value);
  }
  return pairs;
}

std::string value_or_unknown(const std::map<std::string, std::string>& pairs, const std::string& key) {
  const auto found = pairs.find(key);
  return found == pairs.end() || found->second.empty() ? unknown : found->second;
}

// "always [madvise] never": the chosen one.
std::string bracketed(const std::string& line) {
  const size_t open = line.find('['), close = line.find(']', open);
  return open == std::string::npos || close == std::string::npos ? line : line.substr(open + 1, close - open - 1);
}

std::vector<fs::path> cpu_folders(const std::string& root) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root + "/sys/devices/system/cpu", error)) {
    const std::string name = entry.path().filename();
    if (name.size() > 3 && name.starts_with("cpu") && name.find_first_not_of("0123456789", 3) == std::string::npos)
      folders.push_back(entry.path());
  }
  return folders;
}

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
Json instruction_sets(const std::map<std::string, std::string>& cpuinfo) {
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

std::string turbo(const std::string& root) {
  const std::string no_turbo = first_line(root + "/sys/devices/system/cpu/intel_pstate/no_turbo"),
                    boost = first_line(root + "/sys/devices/system/cpu/cpufreq/boost");
  if (no_turbo != unknown) return no_turbo == "0" ? "on" : "off";
  if (boost != unknown) return boost == "1" ? "on" : "off";
  return unknown;
}

Json numa_nodes(const std::string& root) {
  int nodes = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root + "/sys/devices/system/node", error)) {
    const std::string name = entry.path().filename();
    nodes += name.size() > 4 && name.starts_with("node") && name.find_first_not_of("0123456789", 4) == std::string::npos;
  }
  return nodes ? Json(nodes) : Json(unknown);
}

std::string container(const std::string& root) {
  std::error_code error;
  if (fs::exists(root + "/.dockerenv", error)) return "docker";
  if (fs::exists(root + "/run/.containerenv", error)) return "podman";
  const std::string cgroup = first_line(root + "/proc/1/cgroup");
  for (const char* kind : {"docker", "kubepods", "lxc", "containerd"})
    if (cgroup.find(kind) != std::string::npos) return kind;
  return "none seen";
}

std::string virtual_machine(const std::string& root, const std::map<std::string, std::string>& cpuinfo) {
  const std::string product = first_line(root + "/sys/class/dmi/id/product_name"),
                    vendor = first_line(root + "/sys/class/dmi/id/sys_vendor");
  const std::string flags = " " + value_or_unknown(cpuinfo, "flags") + " ";
  if (flags.find(" hypervisor ") != std::string::npos) return product == unknown ? "yes" : fmt::format("yes ({} {})", vendor, product);
  return flags.find(" fpu ") != std::string::npos ? "no" : unknown;  // the flag is x86's
}

Json memory(const std::string& root) {
  const auto info = pairs_in(root + "/proc/meminfo", ':');
  const auto bytes = [&](const char* key) { return info.count(key) ? Json(std::atoll(info.at(key).c_str()) * 1024) : Json(unknown); };
  const std::string pages = first_line(root + "/sys/kernel/mm/transparent_hugepage/enabled");
  return {{"total_bytes", bytes("MemTotal")},
          {"available_bytes", bytes("MemAvailable")},
          {"swap_bytes", bytes("SwapTotal")},
          {"transparent_huge_pages", bracketed(pages)}};
}

// cgroup v2, then v1. "max" and huge numbers mean no limit.
Json limits(const std::string& root) {
  std::string cpu = first_line(root + "/sys/fs/cgroup/cpu.max"), mem = first_line(root + "/sys/fs/cgroup/memory.max");
  if (cpu == unknown) {
    const Json quota = number_in(root + "/sys/fs/cgroup/cpu/cpu.cfs_quota_us"),
               period = number_in(root + "/sys/fs/cgroup/cpu/cpu.cfs_period_us");
    if (quota.is_number() && period.is_number())
      cpu = quota.get<int64_t>() < 0 ? "max" : fmt::format("{} {}", quota.get<int64_t>(), period.get<int64_t>());
  }
  if (mem == unknown) mem = first_line(root + "/sys/fs/cgroup/memory/memory.limit_in_bytes");
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> allowed;
  if (::sched_getaffinity(0, sizeof set, &set) == 0)
    for (int i = 0; i < CPU_SETSIZE; ++i)
      if (CPU_ISSET(i, &set)) allowed.push_back(i);
  return {{"cgroup_cpu", cpu}, {"cgroup_memory", mem}, {"affinity", allowed.empty() ? Json(unknown) : Json(allowed)}};
}

Json load(const std::string& root) {
  std::ifstream in(root + "/proc/loadavg");
  double one, five, fifteen;
  return in >> one >> five >> fifteen ? Json({one, five, fifteen}) : Json(unknown);
}

Json host(const std::string& root, const std::map<std::string, std::string>& cpuinfo) {
  utsname name{};
  ::uname(&name);
  const std::string randomize = first_line(root + "/proc/sys/kernel/randomize_va_space");
  return {{"name", host_name()},
          {"kernel", fmt::format("{} {} {}", name.sysname, name.release, name.machine)},
          {"distribution", value_or_unknown(pairs_in(root + "/etc/os-release", '='), "PRETTY_NAME")},
          {"container", container(root)},
          {"virtual_machine", virtual_machine(root, cpuinfo)},
          {"address_randomization", randomize},
          {"load", load(root)}};
}

Json cpu(const std::string& root, const std::map<std::string, std::string>& cpuinfo) {
  Json j = {{"model", value_or_unknown(cpuinfo, "model name")}};
  j.update(topology(root));
  j["numa_nodes"] = numa_nodes(root);
  j["instruction_sets"] = instruction_sets(cpuinfo);
  j["microcode"] = value_or_unknown(cpuinfo, "microcode");
  j["caches"] = caches(root);
  j["governor"] = governor(root);
  j["frequency_driver"] = over_cpus(root, "cpufreq/scaling_driver");
  j["min_khz"] = number_in(root + "/sys/devices/system/cpu/cpu0/cpufreq/scaling_min_freq");
  j["max_khz"] = number_in(root + "/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq");
  j["turbo"] = turbo(root);
  j["idle_driver"] = first_line(root + "/sys/devices/system/cpu/cpuidle/current_driver");
  return j;
}

}  // namespace

std::string governor(const std::string& root) { return over_cpus(root, "cpufreq/scaling_governor"); }

Json host_facts(const std::string& root) {
  const auto cpuinfo = pairs_in(root + "/proc/cpuinfo", ':');
  return {{"host", host(root, cpuinfo)}, {"cpu", cpu(root, cpuinfo)}, {"memory", memory(root)}, {"limits", limits(root)}};
}

}  // namespace erg
