// `ergometer env`: what this machine and this binary are.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "run/measure.hpp"

namespace erg {
namespace {

void print_facts(const Json& facts, const std::string& prefix) {
  for (const auto& [key, value] : facts.items()) {
    if (value.is_object())
      print_facts(value, prefix + key + ".");
    else
      fmt::print("{:<32} {}\n", prefix + key, value.is_string() ? value.get<std::string>() : value.dump());
  }
}

}  // namespace

void register_env(CLI::App& app) {
  auto json = std::make_shared<std::string>();
  CLI::App& command = *app.add_subcommand("env", "Print what this machine is, as it is stored with every run");
  add_json_option(command, *json);
  command.callback([json] {
    Json facts = capture_environment();
    for (const auto& [name, reason] : list_engines())
      facts["engines"][name] = reason.empty() ? engine_json(open_engine(name)->info()) : Json("unavailable: " + reason);
    if (!write_json(facts, *json)) print_facts(facts, "");
  });
}

}  // namespace erg
