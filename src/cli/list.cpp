// `ergometer list`: the stored runs, a line each.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "core/error.hpp"
#include "report/table.hpp"
#include "store/store.hpp"

namespace erg {

void register_list(CLI::App& app) {
  struct Options {
    std::string results, json;
    std::vector<std::string> labels;
    Store::Query query;
  };
  auto o = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("list", "List the stored runs, oldest first");
  command.add_option("--sweep", o->query.sweep_id, "Only runs of this sweep");
  command.add_option("--label", o->labels, "Only runs with this label: key=value; may be given often")->allow_extra_args(false);
  command.add_option("--limit", o->query.limit, "Only the newest so many")->check(CLI::Range(1, 1'000'000));
  add_results_option(command, o->results);
  add_json_option(command, o->json);
  command.callback([o] {
    for (const std::string& label : o->labels) {
      const size_t equals = label.find('=');
      if (equals == label.npos || equals == 0)
        throw Error(ErrorKind::usage, "a label is key=value", "--label " + label, "--label machine=node1");
      o->query.labels.emplace_back(label.substr(0, equals), label.substr(equals + 1));
    }
    o->query.brief = o->json.empty();
    const std::vector<Record> records = Store(o->results, Store::Access::read).list(o->query);
    if (write_json(runs_json(records), o->json)) return;
    const bool all = o->query.sweep_id.empty() && o->query.labels.empty();
    if (records.empty())
      fmt::print(stderr, "{} in {}\n", all ? "there are no runs yet" : "no run is such a one", o->results);
    else
      fmt::print("{}", list_table(records));
  });
}

}  // namespace erg
