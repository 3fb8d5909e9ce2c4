// `ergometer resume`: what is missing of a sweep that was killed, interrupted, or ran out of room.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "core/error.hpp"
#include "core/terminal.hpp"
#include "report/table.hpp"
#include "report/words.hpp"
#include "store/store.hpp"

namespace erg {
namespace {

struct ResumeCommand {
  std::string results, json, launcher, sweep = "last";
  std::vector<std::string> lost_hosts;
  SweepRequest request;
  bool strict = false, dry_run = false;

  void operator()() {
    request.retry.lost_hosts.insert(lost_hosts.begin(), lost_hosts.end());
    if (dry_run) return print_plan();
    Store store(results);
    StoredSweep stored = load_sweep_file(store.folder(), sweep);
    if (!launcher.empty()) stored.launcher = launcher;
    const std::vector<Record> records = show_sweep(stored, store, request).records;
    if (!write_json(runs_json(records), json)) fmt::print("{}", results_table(records));
    exit_with(exit_code(records, strict));
  }

 private:
  void print_plan() const {
    const Store store(results, Store::Access::read);
    const StoredSweep stored = load_sweep_file(store.folder(), sweep);
    Table table({{"point"}, {"run", false}, {"status", false}, {"resume would", false}});
    for (size_t i = 0; i < stored.points.size(); ++i) {
      const PointState state = state_of(store, stored, i, request.retry);
      const char* now = state.record ? name_of(state.record->status) : state.broken.empty() ? "–" : "broken";
      const char* would = state.kind == PointState::Kind::open   ? "run it"
                          : state.kind == PointState::Kind::done ? "leave it"
                                                                 : "leave it to its process";
      table.add({std::to_string(i + 1), title_of(stored.points[i]), now, would});
    }
    fmt::print("sweep {}\n{}", stored.id, table.text());
  }
};

}  // namespace

void register_resume(CLI::App& app) {
  CLI::App& command = *app.add_subcommand("resume", "Run what is missing of a sweep; what is finished is not repeated");
  auto resume = std::make_shared<ResumeCommand>();
  command.add_option("SWEEP", resume->sweep, "A sweep's id, its beginning or its end; last: the newest")->capture_default_str();
  command.add_flag("--retry-failed", resume->request.retry.failed, "Also run again what is FAILED, OOM or TIMEOUT");
  command
      .add_option("--lost-host", resume->lost_hosts,
                  "Nothing runs on this host any more: take over what it was running; may be given often")
      ->allow_extra_args(false);
  add_max_failures_option(command, resume->request.max_failures);
  add_launcher_option(command, resume->launcher);
  command.add_flag("--dry-run", resume->dry_run, "Print what would be run and run nothing");
  add_results_option(command, resume->results);
  add_json_option(command, resume->json);
  command.add_flag("--strict", resume->strict, "Exit with 4 when a result is invalid");
  command.callback([resume] { (*resume)(); });
}

}  // namespace erg
