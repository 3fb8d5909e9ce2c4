// The checks: each looks at one thing and says what it found. Add a check as one function and one row of the table.
#include "run/doctor.hpp"

#include <fmt/format.h>

#include "core/units.hpp"

namespace erg {
namespace {

using Verdict = Finding;  // its name is filled in from the table

Verdict ok(const std::string& detail) { return {{}, Health::ok, detail}; }
Verdict warn(const std::string& detail, const std::string& fix) { return {{}, Health::warn, detail, fix}; }
Verdict no(const std::string& detail, const std::string& fix, bool prevents_running = false) {
  return {{}, Health::no, detail, fix, prevents_running};
}
Verdict unknown(const std::string& detail) { return {{}, Health::unknown, detail}; }

// A fact as text: "unavailable" when it is not known.
std::string text_of(const Json& group, const char* key) {
  const Json& v = group.at(key);
  return v.is_string() ? v.get<std::string>() : v.dump();
}
bool known(const std::string& text) { return text != "unavailable"; }

Verdict build(const DoctorFacts& f) {
  if (!f.build.debug) return ok(f.build.build_type + ", " + f.build.compiler);
  return warn(fmt::format("a {} build{}: its speed says nothing", f.build.build_type,
                          f.build.sanitizers.empty() ? "" : " with " + f.build.sanitizers),
              "make run builds a release");
}

Verdict results(const DoctorFacts& f) {
  if (!f.results_error.empty()) return no(f.results_error, "name another folder with --results DIR or ERGOMETER_RESULTS", true);
  if (f.results_free_bytes && *f.results_free_bytes < 1'000'000'000)
    return warn(fmt::format("{} has {} left", f.results, bytes_text(double(*f.results_free_bytes))), "make room, or --results DIR");
  if (!known(f.results_file_system)) return unknown(f.results + ": its file system cannot be told");
  if (!f.results_file_system.empty())
    return warn(fmt::format("{} is on {}: safe, but listing is slower", f.results, f.results_file_system), "a local folder: --results DIR");
  return ok(f.results + (f.results_free_bytes ? ", " + bytes_text(double(*f.results_free_bytes)) + " free" : ""));
}

Verdict device_files(const DoctorFacts& f) {
  if (!f.device_files_error.empty())
    return no(f.device_files_error, "name their folder in ERGOMETER_DEVICES; without them there is no MFU");
  return ok(fmt::format("{}", f.device_files));
}

Verdict data(const DoctorFacts& f) {
  if (f.has_data) return ok("ergometer-data");
  return no("./ergometer-data is not there: runs train on synthetic data", "ergometer data tokens --help, ergometer data images --help");
}

Verdict governor(const DoctorFacts& f) {
  const std::string g = text_of(f.host.at("cpu"), "governor");
  if (!known(g)) return unknown("the kernel does not say, as is usual in virtual machines");
  if (g == "performance") return ok(g);
  return warn(g + ": clocks follow the load, and with it the speed", "sudo cpupower frequency-set -g performance");
}

Verdict turbo(const DoctorFacts& f) {
  const std::string t = text_of(f.host.at("cpu"), "turbo");
  if (!known(t)) return unknown("the kernel does not say");
  if (t == "off") return ok("off");
  return ok("on: clocks depend on temperature and on how many cores work");
}

// Of our CPUs' time in the moment that was watched.
std::optional<double> share_of_cpus(const DoctorFacts& f, std::optional<double> HostSample::*seconds, double own) {
  const double time = (f.end.steady_s - f.begin.steady_s) * f.end.cpus;
  const auto &a = f.begin.*seconds, &b = f.end.*seconds;
  if (!a || !b || time <= 0) return std::nullopt;
  return (*b - *a - own) / time;
}

Verdict others(const DoctorFacts& f) {
  const auto share = share_of_cpus(f, &HostSample::busy_s, f.end.own_cpu_s - f.begin.own_cpu_s);
  if (!share) return unknown("/proc/stat does not tell");
  const std::string used = fmt::format("others use {:.0f} % of our {} CPUs", std::max(0.0, 100 * *share), f.end.cpus);
  return *share > 0.05 ? warn(used, "wait or stop them: top -o %CPU") : ok(used);
}

Verdict steal(const DoctorFacts& f) {
  const auto share = share_of_cpus(f, &HostSample::stolen_s, 0);
  if (!share) return unknown("/proc/stat does not tell");
  const std::string taken = fmt::format("the hypervisor takes {:.1f} %", 100 * *share);
  return *share > 0.01 ? warn(taken, "a machine with dedicated CPUs; runs are flagged cpu_steal") : ok(taken);
}

Verdict cpus(const DoctorFacts& f) {
  const Json &allowed = f.host.at("limits").at("affinity"), &quota = f.host.at("limits").at("cgroup_cpus"),
             &threads = f.host.at("cpu").at("threads");
  if (!allowed.is_array() || !threads.is_number()) return unknown("the kernel does not say which CPUs are ours");
  const size_t ours = allowed.size();
  if (quota.is_number() && quota.get<double>() < double(ours))
    return warn(fmt::format("the control group allows {:g} of {} CPUs: steps are interrupted by its quota", quota.get<double>(), ours),
                "start with a set of CPUs in place of a quota: docker run --cpuset-cpus, srun --cpus-per-task");
  if (ours < threads.get<size_t>())
    return warn(fmt::format("{} of {} CPUs are allowed", ours, threads.get<size_t>()),
                "taskset -cp $$, or what the batch system was asked for");
  return ok(fmt::format("all {}", ours));
}

Verdict memory(const DoctorFacts& f) {
  const Json &total = f.host.at("memory").at("total_bytes"), &limit = f.host.at("limits").at("cgroup_memory_bytes");
  if (!total.is_number()) return unknown("/proc/meminfo does not tell");
  if (limit.is_number() && limit.get<int64_t>() < total.get<int64_t>())
    return warn(fmt::format("the control group allows {} of {}; beyond it the kernel kills", bytes_text(limit.get<double>()),
                            bytes_text(total.get<double>())),
                "docker run --memory, srun --mem");
  return ok(bytes_text(total.get<double>()));
}

Verdict swap(const DoctorFacts& f) {
  const Json &total = f.host.at("memory").at("swap_bytes"), &free = f.host.at("memory").at("swap_free_bytes");
  if (!total.is_number() || !free.is_number()) return unknown("/proc/meminfo does not tell");
  const int64_t used = total.get<int64_t>() - free.get<int64_t>();
  if (used <= 0) return ok(total.get<int64_t>() > 0 ? "not in use" : "none");
  return warn(bytes_text(double(used)) + " in use: memory was too small some time ago", "sudo swapoff -a && sudo swapon -a");
}

Verdict shared_memory(const DoctorFacts& f) {
  if (!f.shared_memory_bytes) return unknown("/dev/shm is not there");
  const std::string size = bytes_text(double(*f.shared_memory_bytes));
  return *f.shared_memory_bytes < (int64_t(1) << 30) ? warn(size + ": ranks on one machine may need more", "docker run --shm-size=8g")
                                                     : ok(size);
}

Verdict clock_source(const DoctorFacts& f) {
  const std::string c = text_of(f.host.at("host"), "clock_source");
  if (!known(c)) return unknown("the kernel does not say");
  if (c == "hpet" || c == "acpi_pm" || c == "jiffies" || c == "refined-jiffies")
    return warn(c + ": every look at the clock costs about a microsecond",
                "where tsc is listed in available_clocksource: echo tsc | sudo tee "
                "/sys/devices/system/clocksource/clocksource0/current_clocksource");
  return ok(c);
}

// ulimit -v, -l and -n.
Verdict user_limits(const DoctorFacts& f) {
  const Json &limits = f.host.at("limits"), &space = limits.at("address_space_bytes"), &locked = limits.at("locked_memory_bytes"),
             &files = limits.at("open_files");
  if (space.is_number()) return warn("address space is limited to " + bytes_text(space.get<double>()), "ulimit -v unlimited");
  if (files.is_number() && files.get<int64_t>() < 256) return warn(fmt::format("{} open files", files.get<int64_t>()), "ulimit -n 1024");
  const std::string pinned = locked.is_number() ? bytes_text(locked.get<double>()) : text_of(limits, "locked_memory_bytes");
  return ok(fmt::format("address space {}, locked memory {}, open files {}", text_of(limits, "address_space_bytes"), pinned,
                        text_of(limits, "open_files")));
}

struct Check {
  const char* name;
  Verdict (*look)(const DoctorFacts&);
};
constexpr Check checks[] = {{"results", results},
                            {"device files", device_files},
                            {"data", data},
                            {"release build", build},
                            {"CPU governor", governor},
                            {"turbo", turbo},
                            {"other processes", others},
                            {"hypervisor", steal},
                            {"CPUs", cpus},
                            {"memory", memory},
                            {"swap", swap},
                            {"shared memory", shared_memory},
                            {"clock source", clock_source},
                            {"user limits", user_limits}};

const char* name_of(Health h) {
  switch (h) {
    case Health::ok: return "ok";
    case Health::warn: return "warn";
    case Health::no: return "no";
    case Health::unknown: return "unknown";
  }
  return "?";
}

}  // namespace

std::vector<Finding> diagnose(const DoctorFacts& f) {
  std::vector<Finding> findings;
  for (const EngineState& e : f.engines)  // cpu is where everything runs today
    findings.push_back({"engine " + e.name, e.there ? Health::ok : Health::no, e.detail, e.fix, !e.there && e.name == "cpu"});
  for (const MeterInfo& s : f.sensors)
    findings.push_back(
        {"energy", Health::ok, fmt::format("{} {}{}", s.name, s.domain, s.not_added.empty() ? "" : ", not added: " + s.not_added)});
  for (const NoSensor& n : f.no_sensors) findings.push_back({"energy", Health::no, n.text(), n.fix});
  for (const Check& c : checks) {
    findings.push_back(c.look(f));
    findings.back().name = c.name;
  }
  return findings;
}

std::string doctor_text(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& f : findings) {
    text += fmt::format("{:<16} {:<8} {}\n", f.name, name_of(f.health), f.detail);
    if (!f.fix.empty()) text += fmt::format("{:<25} fix: {}\n", "", f.fix);
  }
  return text;
}

Json doctor_json(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& f : findings) list.push_back({{"name", f.name}, {"result", name_of(f.health)}, {"detail", f.detail}, {"fix", f.fix}});
  return {{"checks", list}, {"can_run", can_run(findings)}};
}

bool can_run(const std::vector<Finding>& findings) {
  for (const Finding& f : findings)
    if (f.health == Health::no && f.prevents_running) return false;
  return true;
}

}  // namespace erg
