// `ergometer export`: runs in the formats of other programs.
#include "store/export.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "core/file.hpp"
#include "store/store.hpp"

namespace erg {
namespace {

using Write = std::string (*)(const std::vector<Record>&);

const std::map<std::string, Write>& formats() {
  static const std::map<std::string, Write> all = {
      {"csv", to_csv},
      {"markdown", to_markdown},
      {"jsonl", to_jsonl},
      {"mllog", to_mllog},
      {"json", [](const std::vector<Record>& records) { return json_text(runs_json(records)) + "\n"; }}};
  return all;
}

}  // namespace

void register_export(CLI::App& app) {
  struct Options {
    std::string results, format = "csv", output = "-";
    std::vector<std::string> runs;
    Store::Query query;
  };
  auto o = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("export", "Write runs for other programs, in SI units");
  command.add_option("RUN", o->runs, "Which runs; without: all");
  command.add_option("--format", o->format, "csv, markdown, json, jsonl or mllog")
      ->check(CLI::IsMember({"csv", "markdown", "json", "jsonl", "mllog"}))
      ->capture_default_str();
  command.add_option("-o,--output", o->output, "A file; -: stdout")->capture_default_str();
  command.add_option("--sweep", o->query.sweep_id, "Only runs of this sweep");
  add_results_option(command, o->results);
  command.callback([o] {
    const Store store(o->results, Store::Access::read);
    std::vector<Record> records;
    for (const std::string& run : o->runs) records.push_back(store.load(run));
    if (o->runs.empty()) records = store.list(o->query);
    const std::string text = formats().at(o->format)(records);
    if (o->output == "-")
      fmt::print("{}", text);
    else
      write_file_atomically(o->output, text);
  });
}

}  // namespace erg
