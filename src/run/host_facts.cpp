// Facts about the host and what of it is ours: one small function each. Those about the processor are in cpu_facts.cpp.
#include "run/host_facts.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include <array>
#include <fstream>

#include "core/cgroup.hpp"
#include "run/fact_files.hpp"
#include "store/process_id.hpp"

namespace erg {
using namespace facts;
namespace {

namespace fs = std::filesystem;

std::string container(const std::string& root) {
  std::error_code error;
  if (fs::exists(root + "/.dockerenv", error)) return "docker";
  if (fs::exists(root + "/run/.containerenv", error)) return "podman";
  if (const std::string manager = first_line(root + "/run/systemd/container"); manager != unknown) return manager;
  const std::string cgroup = first_line(root + "/proc/1/cgroup");
  for (const char* kind : {"docker", "kubepods", "lxc", "containerd"})
    if (cgroup.find(kind) != std::string::npos) return kind;
  return "none seen";
}

// x86 has a flag for it; elsewhere only a hypervisor that tells its name is known.
std::string virtual_machine(const std::string& root, const Pairs& cpuinfo) {
  const std::string product = first_line(root + "/sys/class/dmi/id/product_name"),
                    vendor = first_line(root + "/sys/class/dmi/id/sys_vendor"), hypervisor = first_line(root + "/sys/hypervisor/type");
  const std::string flags = " " + value_or_unknown(cpuinfo, "flags") + " ";
  if (flags.find(" hypervisor ") != std::string::npos || hypervisor != unknown || vendor == "QEMU")
    return product == unknown ? (hypervisor == unknown ? "yes" : fmt::format("yes ({})", hypervisor))
                              : fmt::format("yes ({} {})", vendor, product);
  return flags.find(" fpu ") != std::string::npos ? "no" : unknown;
}

Json memory(const std::string& root) {
  const auto info = pairs_in(root + "/proc/meminfo", ':');
  const auto bytes = [&](const char* key) { return info.count(key) ? Json(std::atoll(info.at(key).c_str()) * 1024) : Json(unknown); };
  const std::string pages = first_line(root + "/sys/kernel/mm/transparent_hugepage/enabled");
  return {{"total_bytes", bytes("MemTotal")},
          {"available_bytes", bytes("MemAvailable")},
          {"swap_bytes", bytes("SwapTotal")},
          {"swap_free_bytes", bytes("SwapFree")},
          {"huge_pages", info.count("HugePages_Total") ? Json(std::atoll(info.at("HugePages_Total").c_str())) : Json(unknown)},
          {"transparent_huge_pages", bracketed(pages)}};
}

// "none" where the kernel says that there is no limit.
Json limit_json(bool known, const auto& limit) { return limit ? Json(*limit) : Json(known ? "none" : unknown); }

Json ulimit_json(int resource) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0) return unknown;
  return limit.rlim_cur == RLIM_INFINITY ? Json("none") : Json(limit.rlim_cur);
}

Json limits(const std::string& root) {
  const CgroupLimits cgroup = cgroup_limits(root);
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> allowed;
  if (::sched_getaffinity(0, sizeof set, &set) == 0)
    for (int i = 0; i < CPU_SETSIZE; ++i)
      if (CPU_ISSET(i, &set)) allowed.push_back(i);
  return {
      {"cgroup_cpus", limit_json(cgroup.known, cgroup.cpus)},        {"cgroup_memory_bytes", limit_json(cgroup.known, cgroup.memory_bytes)},
      {"affinity", allowed.empty() ? Json(unknown) : Json(allowed)}, {"address_space_bytes", ulimit_json(RLIMIT_AS)},
      {"locked_memory_bytes", ulimit_json(RLIMIT_MEMLOCK)},          {"open_files", ulimit_json(RLIMIT_NOFILE)}};
}

Json load(const std::string& root) {
  std::ifstream in(root + "/proc/loadavg");
  double one, five, fifteen;
  return in >> one >> five >> fifteen ? Json({one, five, fifteen}) : Json(unknown);
}

// Share of all CPU time since boot that the hypervisor gave to others: "cpu user nice system idle iowait irq softirq steal".
Json stolen_share(const std::string& root) {
  std::ifstream in(root + "/proc/stat");
  std::string name;
  std::array<double, 8> t{};
  in >> name;
  double all = 0;
  for (double& v : t) {
    in >> v;
    all += v;
  }
  return in && name == "cpu" && all > 0 ? Json(t[7] / all) : Json(unknown);
}

Json host(const std::string& root, const Pairs& cpuinfo) {
  utsname name{};
  ::uname(&name);
  return {{"name", host_name()},
          {"kernel", fmt::format("{} {} {}", name.sysname, name.release, name.machine)},
          {"distribution", value_or_unknown(pairs_in(root + "/etc/os-release", '='), "PRETTY_NAME")},
          {"container", container(root)},
          {"virtual_machine", virtual_machine(root, cpuinfo)},
          {"clock_source", first_line(root + "/sys/devices/system/clocksource/clocksource0/current_clocksource")},
          {"address_randomization", first_line(root + "/proc/sys/kernel/randomize_va_space")},
          {"load", load(root)},
          {"stolen_share", stolen_share(root)}};
}

}  // namespace

Json host_facts(const std::string& root) {
  const Pairs cpuinfo = pairs_in(root + "/proc/cpuinfo", ':');
  return {{"host", host(root, cpuinfo)}, {"cpu", cpu_facts(root, cpuinfo)}, {"memory", memory(root)}, {"limits", limits(root)}};
}

}  // namespace erg
