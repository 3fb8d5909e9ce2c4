// `ergometer doctor`: what works here, what does not, and why.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/terminal.hpp"
#include "engine/engine.hpp"
#include "meter/meter.hpp"
#include "plan/plan.hpp"
#include "report/words.hpp"
#include "run/build_info.hpp"
#include "run/host_facts.hpp"
#include "store/store.hpp"

namespace erg {
namespace {

class Findings {
 public:
  void good(const std::string& what, const std::string& detail) { table_.add({what, "ok", detail}); }
  void missing(const std::string& what, const std::string& why) { table_.add({what, "no", one_line(why)}); }
  void unknown(const std::string& what, const std::string& why) { table_.add({what, "?", one_line(why)}); }
  std::string text() const { return table_.text(); }

 private:
  Table table_{{{"what", false}, {"works", false}, {"", false}}};
};

void engines(Findings& f) {
  for (const auto& [name, reason] : list_engines()) {
    if (!reason.empty()) {
      f.missing("engine " + name, reason);
      continue;
    }
    const EngineInfo e = open_engine(name)->info();
    f.good("engine " + name, fmt::format("{}, {} threads, {}, {}{}", e.device, e.threads, e.library, e.isa, e.native_bf16 ? ", bf16 in hardware" : ""));
  }
}

void sensors(Findings& f) {
  const MeterSet meters = open_meters({"auto"});
  for (const auto& meter : meters.meters) f.good("energy", meter->info().name + " " + meter->info().domain);
  for (const std::string& reason : meters.unavailable) f.missing("energy", reason);
}

void folders(Findings& f, const std::string& results) {
  try {
    if (!std::filesystem::exists(results)) f.good("results", results + " (made by the first run)");
    else f.good("results", Store(results).folder().string());
  } catch (const Error& e) {
    f.missing("results", e.what());
  }
  try {
    f.good("device files", fmt::format("{} in {}", load_devices(devices_folder()).size(), devices_folder()));
  } catch (const Error& e) {
    f.missing("device files", e.what());
  }
}

void machine(Findings& f) {
  const std::string g = governor();
  if (g == "unavailable") f.unknown("CPU governor", "the kernel does not say: usual in virtual machines");
  else if (g == "performance") f.good("CPU governor", g);
  else f.missing("CPU governor", g + ": clocks change under load; sudo cpupower frequency-set -g performance");
  if (build_info().debug) f.missing("release build", fmt::format("this is a {} build {}: its speed says nothing", build_info().build_type, build_info().sanitizers));
  else f.good("release build", build_info().build_type + ", " + build_info().compiler);
}

}  // namespace

void register_doctor(CLI::App& app) {
  auto results = std::make_shared<std::string>();
  CLI::App& command = *app.add_subcommand("doctor", "Say what works on this machine, and why the rest does not");
  add_results_option(command, *results);
  command.callback([results] {
    Findings f;
    engines(f);
    sensors(f);
    folders(f, *results);
    machine(f);
    fmt::print("{}", f.text());
  });
}

}  // namespace erg
