// Reads /proc and /sys at the edges of the window, and compares.
#include "run/host_use.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace erg {
namespace {

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &set)) cpus.push_back(i);
  return cpus;
}

// Lines "cpuN user nice system idle iowait irq softirq steal ..." in clock ticks.
void read_cpu_times(const std::string& root, const std::vector<int>& cpus, HostSample& sample) {
  std::ifstream in(root + "/proc/stat");
  const double tick = 1.0 / double(::sysconf(_SC_CLK_TCK));
  double busy = 0, stolen = 0;
  size_t seen = 0;
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    std::string name;
    fields >> name;
    if (name.size() < 4 || name.compare(0, 3, "cpu") != 0) continue;
    if (std::find(cpus.begin(), cpus.end(), std::atoi(name.c_str() + 3)) == cpus.end()) continue;
    std::array<double, 8> t{};
    for (double& v : t) fields >> v;
    if (!fields) return;
    const auto [user, nice, system, idle, iowait, irq, softirq, steal] = t;
    busy += tick * (user + nice + system + irq + softirq);
    stolen += tick * steal;
    ++seen;
  }
  if (seen == 0 || seen != cpus.size()) return;
  sample.busy_s = busy;
  sample.stolen_s = stolen;
}

std::optional<int64_t> throttle_events(const std::string& root, const std::vector<int>& cpus) {
  std::optional<int64_t> events;
  for (int cpu : cpus)
    for (const char* file : {"core_throttle_count", "package_throttle_count"}) {
      std::ifstream in(fmt::format("{}/sys/devices/system/cpu/cpu{}/thermal_throttle/{}", root, cpu, file));
      if (int64_t n; in >> n) events = events.value_or(0) + n;
    }
  return events;
}

// "VmHWM:   123456 kB" in /proc/self/status.
std::optional<int64_t> status_bytes(const std::string& key) {
  std::ifstream in("/proc/self/status");
  for (std::string name; in >> name;) {
    if (name == key)
      if (int64_t kb; in >> kb) return kb * 1024;
    in.ignore(1 << 16, '\n');
  }
  return std::nullopt;
}

}  // namespace

HostSample sample_host(const Clock& clock, const std::string& root) {
  HostSample s;
  const std::vector<int> cpus = allowed_cpus();
  s.cpus = int(cpus.size());
  read_cpu_times(root, cpus, s);
  s.throttle_events = throttle_events(root, cpus);
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) { return double(t.tv_sec) + 1e-6 * double(t.tv_usec); };
  s.own_cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  s.major_faults = usage.ru_majflt;
  s.steady_s = clock.now();
  s.wall_s = clock.wall();
  return s;
}

int64_t resident_bytes() {
  std::ifstream in("/proc/self/statm");
  int64_t total = 0, resident = 0;
  return in >> total >> resident ? resident * ::sysconf(_SC_PAGESIZE) : 0;
}

std::optional<int64_t> peak_resident_bytes() { return status_bytes("VmHWM:"); }

void reset_peak_resident() { std::ofstream("/proc/self/clear_refs") << "5"; }  // proc(5), since Linux 4.0

std::vector<Flag> host_flags(const HostSample& begin, const HostSample& end) {
  std::vector<Flag> flags;
  const double time = end.steady_s - begin.steady_s, cpu_time = time * end.cpus;
  if (time <= 0) return flags;
  if (begin.busy_s && end.busy_s) {
    const double others = *end.busy_s - *begin.busy_s - (end.own_cpu_s - begin.own_cpu_s);
    if (others > 0.05 * cpu_time)
      flags.push_back({"busy_host", fmt::format("other processes used {:.0f} % of this run's {} CPUs", 100 * others / cpu_time, end.cpus)});
  }
  if (begin.stolen_s && end.stolen_s) {
    const double stolen = *end.stolen_s - *begin.stolen_s;
    if (stolen > 0.01 * cpu_time)
      flags.push_back({"cpu_steal", fmt::format("the hypervisor took {:.1f} % of this run's {} CPUs", 100 * stolen / cpu_time, end.cpus)});
  }
  const double step = end.wall_s - begin.wall_s - time;
  if (std::abs(step) > std::max(0.1, 1e-3 * time)) flags.push_back({"clock_step", fmt::format("the wall clock moved by {:+.3f} s", step)});
  if (begin.throttle_events && end.throttle_events && *end.throttle_events > *begin.throttle_events)
    flags.push_back({"throttled", fmt::format("{} thermal throttle events", *end.throttle_events - *begin.throttle_events)});
  return flags;
}

}  // namespace erg
