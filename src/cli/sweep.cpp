// `ergometer sweep`: every point of a spec's axes, each in its own process.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "core/error.hpp"
#include "core/terminal.hpp"
#include "core/units.hpp"
#include "engine/engine.hpp"
#include "report/table.hpp"
#include "store/store.hpp"

namespace erg {
namespace {

// The points without running them.
std::string dry_table(const std::vector<SweepPoint>& points) {
  Table table({{"point"}, {"workload", false}, {"coordinates", false}, {"repeat"}, {"spec hash", false}, {"", false}});
  double longest = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    const SweepPoint& p = points[i];
    std::string coordinates;
    for (const auto& [key, value] : p.coordinates) coordinates += (coordinates.empty() ? "" : ", ") + key + "=" + value;
    const std::string workload = p.spec.workload.preset.empty() ? name_of(p.spec.workload.kind) : p.spec.workload.preset;
    table.add({std::to_string(i + 1), workload, coordinates, std::to_string(p.spec.repeat_index + 1), spec_hash(p.spec),
               p.skip_reason.empty() ? "" : "SKIPPED: " + p.skip_reason});
    if (p.skip_reason.empty()) longest += p.spec.measure.longest();
  }
  return table.text() + fmt::format("at most {} of warm-up, settling and measuring\n", duration(longest));
}

// A misspelt device would fail at every point. One that is only missing here fails at its own.
void require_known_device(const SweepPoint& point) {
  try {
    require_engine_name(point.spec.device);
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::usage) throw;
  }
}

struct SweepCommand {
  SpecOptions spec;
  std::string results, json, launcher;
  SweepRequest request;
  bool strict = false, dry_run = false;

  void operator()() const {
    const std::vector<SweepPoint> points = load_sweep(spec.complete());
    for (const SweepPoint& p : points) require_known_device(p);
    if (dry_run) return fmt::print("{}", dry_table(points));
    Store store(results);
    const std::vector<Record> records = show_sweep(store_sweep(points, launcher, store), store, request).records;
    if (!write_json(runs_json(records), json)) fmt::print("{}", results_table(records));
    exit_with(exit_code(records, strict));
  }
};

}  // namespace

void register_sweep(CLI::App& app) {
  CLI::App& command = *app.add_subcommand("sweep", "Train at every point of a spec's axes; store and print the records");
  auto sweep = std::make_shared<SweepCommand>();
  add_spec_options(command, sweep->spec);
  command.add_option("--axis", sweep->spec.request.axes, "An axis: global_batch=16,32-2048*2; may be given often")->allow_extra_args(false);
  command.add_option("--zip", sweep->spec.request.zips, "Axes that advance together: global_batch,micro_batch")->allow_extra_args(false);
  command.add_option("--exclude", sweep->spec.request.excludes, "Points to leave out: 'global_batch > 512 and devices == 1'")
      ->allow_extra_args(false);
  command.add_option("--compute", sweep->spec.request.computes, "A value from others: 'micro_batch=global_batch / devices'")
      ->allow_extra_args(false);
  command.add_flag("--dry-run", sweep->dry_run, "Print the points and run nothing");
  add_launcher_option(command, sweep->launcher);
  add_max_failures_option(command, sweep->request.max_failures);
  add_results_option(command, sweep->results);
  add_sysfs_option(command);
  add_json_option(command, sweep->json);
  command.add_flag("--strict", sweep->strict, "Exit with 4 when a result is invalid");
  command.callback([sweep] { (*sweep)(); });
}

}  // namespace erg
