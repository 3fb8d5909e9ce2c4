// `ergometer doctor`: what works here, what does not, and why.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "core/error.hpp"
#include "engine/engine.hpp"
#include "meter/meter.hpp"
#include "plan/plan.hpp"
#include "run/build_info.hpp"
#include "run/host_facts.hpp"
#include "store/store.hpp"

namespace erg {
namespace {

void line(const std::string& what, const char* works, const std::string& detail) { fmt::print("{:<14} {:<8} {}\n", what, works, detail); }
void good(const std::string& what, const std::string& detail) { line(what, "ok", detail); }
void missing(const std::string& what, const std::string& why) { line(what, "no", why); }
void missing(const std::string& what, const Error& e) {
  line(what, "no", e.message());
  if (!e.fix().empty()) fmt::print("{:<23} fix: {}\n", "", e.fix());
}

std::string describe(const EngineInfo& e) {
  std::string text = fmt::format("{}, {} thread{}", e.device, e.threads, e.threads == 1 ? "" : "s");
  for (const std::string& part : {e.library, e.isa})
    if (!part.empty()) text += ", " + part;
  return text + (e.native_bf16 ? ", bf16 in hardware" : "");
}

void engines() {
  for (const auto& [name, reason] : list_engines()) try {
      good("engine " + name, describe(open_engine(name)->info()));
    } catch (const Error& e) { missing("engine " + name, e); }
}

void sensors() {
  const MeterSet meters = open_meters({"auto"}, sysfs_root());
  for (const auto& meter : meters.meters) good("energy", meter->info().name + " " + meter->info().domain);
  for (const NoSensor& n : meters.unavailable) missing("energy", n.text());
}

void folders(const std::string& results) {
  try {
    if (!std::filesystem::exists(results))
      good("results", results + " (made by the first run)");
    else
      good("results", Store(results).folder().string());
  } catch (const Error& e) { missing("results", e); }
  try {
    good("device files", fmt::format("{} in {}", load_devices(devices_folder()).size(), devices_folder()));
  } catch (const Error& e) { missing("device files", e); }
}

void machine() {
  const std::string g = governor();
  if (g == "unavailable")
    line("CPU governor", "unknown", "the kernel does not say, as is usual in virtual machines");
  else if (g == "performance")
    good("CPU governor", g);
  else
    missing("CPU governor", g + ": clocks change with the load (sudo cpupower frequency-set -g performance)");
  const BuildInfo& b = build_info();
  if (b.debug)
    missing("release build", fmt::format("this is a {} build {}: its speed says nothing", b.build_type, b.sanitizers));
  else
    good("release build", b.build_type + ", " + b.compiler);
}

}  // namespace

void register_doctor(CLI::App& app) {
  auto results = std::make_shared<std::string>();
  CLI::App& command = *app.add_subcommand("doctor", "Say what works on this machine, and why the rest does not");
  add_results_option(command, *results);
  command.callback([results] {
    engines();
    sensors();
    folders(*results);
    machine();
  });
}

}  // namespace erg
