// `ergometer merge`: the runs and sweeps of other results folders, taken over into this one.
#include "store/merge.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "cli/options.hpp"

namespace erg {

void register_merge(CLI::App& app) {
  struct Options {
    std::string results;
    std::vector<std::string> folders;
  };
  auto o = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("merge", "Take over the runs and sweeps of other results folders");
  command.add_option("DIR", o->folders, "Results folders; they stay as they are")->required();
  add_results_option(command, o->results);
  command.callback([o] {
    Store store(o->results);
    bool conflicts = false;
    for (const std::string& folder : o->folders) {
      const MergeResult r = merge_into(store, folder);
      for (const std::string& text : r.left_out) fmt::print(stderr, "ergometer: left out: {}\n", text);
      for (const std::string& text : r.conflicts) print_error(text + "\n  fix: one of them was changed; remove the wrong one");
      fmt::print(stderr, "{}: {} runs and {} sweeps taken over, {} were here already, {} left out\n", folder, r.runs, r.sweeps, r.same,
                 r.left_out.size() + r.conflicts.size());
      conflicts |= !r.conflicts.empty();
    }
    if (conflicts) exit_with(1);
  });
}

}  // namespace erg
