// `ergometer show`: one run in full.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "report/table.hpp"
#include "store/store.hpp"

namespace erg {

void register_show(CLI::App& app) {
  struct Options {
    std::string results, json, run = "last";
    bool samples = false;
  };
  auto o = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("show", "Show one run: results, phases, flags, machine, and how to repeat it");
  command.add_option("RUN", o->run, "A run's id, its beginning or its end; last: the newest")->capture_default_str();
  command.add_flag("--samples", o->samples, "Put every step's time and loss into the JSON");
  add_results_option(command, o->results);
  add_json_option(command, o->json);
  command.callback([o] {
    const Record r = Store(o->results, Store::Access::read).load(o->run, o->samples);
    Json json = to_json(r);
    if (o->samples) json["samples"] = {{"step_times", r.step_times}, {"losses", r.losses}};
    if (!write_json(json, o->json)) fmt::print("{}", show_record(r));
  });
}

}  // namespace erg
