// `ergometer run`: one spec, one record. With repeats it is a sweep of one point, because a repeat is a new process.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "core/error.hpp"
#include "report/table.hpp"
#include "run/sweep.hpp"
#include "run/watch_run.hpp"
#include "store/store.hpp"

namespace erg {
namespace {

struct RunCommand {
  SpecOptions spec;
  std::string results, json;
  bool strict = false, profile = false;
  // Hidden: how a sweep starts its children.
  std::string record_id, sweep_id, sweep_process;
  std::vector<std::string> coordinates;

  void operator()() const {
    const SpecRequest request = spec.complete();
    const Spec wanted = load_spec(request);
    if (profile && wanted.measure.repeat > 1)
      throw Error(ErrorKind::usage, "a profile is of one run, and measure.repeat asks for several", "--profile",
                  "leave out one of the two");
    Store store(results);
    if (!record_id.empty()) run_as_child(wanted, store);
    const std::vector<Record> records = wanted.measure.repeat > 1 ? repeats(request, store) : std::vector{once(wanted, store)};
    if (!write_json(records.size() == 1 ? to_json(records.front()) : runs_json(records), json)) print(records);
    exit_with(exit_code(records, strict));
  }

 private:
  Record once(const Spec& wanted, Store& store) const {
    StatusLine status;
    const Record r = run_once(wanted, store, {.progress = show_progress(status), .profile = profile});
    status.clear();
    if (!r.status_reason.empty()) print_error(fmt::format("{}: {}", name_of(r.status), r.status_reason));
    status.message(fmt::format("stored as {}", (store.folder() / r.id).string()));
    if (r.profile.is_object()) status.message(fmt::format("trace: {}", (store.folder() / r.id / "trace.json").string()));
    return r;
  }

  static void print(const std::vector<Record>& records) {
    fmt::print("{}", results_table(records));
    if (const std::string profile = profile_table(records.front()); !profile.empty()) fmt::print("\n{}", profile);
  }

  std::vector<Record> repeats(const SpecRequest& request, Store& store) const {
    return show_sweep(store_sweep(load_sweep(request), "", store), store, {}).records;
  }

  [[noreturn]] void run_as_child(const Spec& wanted, Store& store) const {
    RunOptions options = {tell_parent(), record_id, sweep_id, {}, sweep_process.empty() ? Json() : Json::parse(sweep_process)};
    for (const std::string& c : coordinates) options.coordinates.emplace_back(c.substr(0, c.find('=')), c.substr(c.find('=') + 1));
    Record r;
    try {
      r = run_once(wanted, store, options);
    } catch (const Error& e) {
      print_error(e.what());
      exit_with(cannot_store);
    }
    exit_with(exit_code({r}, false));
  }
};

}  // namespace

void register_run(CLI::App& app) {
  CLI::App& command = *app.add_subcommand("run", "Train once, measured; store and print the record");
  auto run = std::make_shared<RunCommand>();
  add_spec_options(command, run->spec);
  add_results_option(command, run->results);
  add_sysfs_option(command);
  add_json_option(command, run->json);
  command.add_flag("--profile", run->profile, "Also tell where a step's time goes; leaves trace.json beside the record");
  command.add_flag("--strict", run->strict, "Exit with 4 when the result is invalid");
  command.add_option("--record-id", run->record_id)->group("");
  command.add_option("--sweep-id", run->sweep_id)->group("");
  command.add_option("--sweep-process", run->sweep_process)->group("");
  command.add_option("--coordinate", run->coordinates)->group("")->allow_extra_args(false);
  command.callback([run] { (*run)(); });
}

}  // namespace erg
