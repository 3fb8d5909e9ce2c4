// `ergometer export`: runs as CSV, Markdown or JSON.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "core/file.hpp"
#include "store/store.hpp"

namespace erg {

void register_export(CLI::App& app) {
  struct Options {
    std::string results, format = "csv", output = "-";
    std::vector<std::string> runs;
    Store::Query query;
  };
  auto o = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("export", "Write runs as a table for other programs, one row a run, SI units");
  command.add_option("RUN", o->runs, "Which runs; without: all");
  command.add_option("--format", o->format, "csv, markdown or json")
      ->check(CLI::IsMember({"csv", "markdown", "json"}))
      ->capture_default_str();
  command.add_option("-o,--output", o->output, "A file; -: stdout")->capture_default_str();
  command.add_option("--sweep", o->query.sweep_id, "Only runs of this sweep");
  add_results_option(command, o->results);
  command.callback([o] {
    const Store store(o->results, Store::Access::read);
    std::vector<Record> records;
    for (const std::string& run : o->runs) records.push_back(store.load(run));
    if (o->runs.empty()) records = store.list(o->query);
    const std::string text = o->format == "csv"        ? to_csv(records)
                             : o->format == "markdown" ? to_markdown(records)
                                                       : json_text(runs_json(records)) + "\n";
    if (o->output == "-")
      fmt::print("{}", text);
    else
      write_file_atomically(o->output, text);
  });
}

}  // namespace erg
