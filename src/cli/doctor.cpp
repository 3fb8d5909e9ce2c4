// `ergometer doctor`: what works here, what does not, and the command that mends it.
#include "run/doctor.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.hpp"
#include "cli/options.hpp"

namespace erg {

void register_doctor(CLI::App& app) {
  struct Options {
    std::string results, json;
  };
  auto o = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("doctor", "Say what works on this machine, and how to mend the rest");
  add_results_option(command, o->results);
  add_sysfs_option(command);
  add_json_option(command, o->json);
  command.callback([o] {
    const std::vector<Finding> findings = diagnose(gather_facts(o->results));
    if (!write_json(doctor_json(findings), o->json)) fmt::print("{}", doctor_text(findings));
    if (!can_run(findings)) exit_with(1);
  });
}

}  // namespace erg
