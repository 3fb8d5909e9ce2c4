// `ergometer compare`: two runs, sweeps, results folders or exported files against each other.
#include "report/compare.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <set>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "store/store.hpp"

namespace erg {
namespace {

namespace fs = std::filesystem;
constexpr int regression_found = 3;

// What `export --format json` or jsonl, `list --json` and `show --json` write, and a run's own record.json.
std::vector<Record> records_of_file(const std::string& path) {
  const std::string text = read_file(path);
  std::vector<Record> records;
  try {
    const Json whole = Json::parse(text, nullptr, false);
    if (whole.is_object() && whole.contains("runs")) {
      for (const Json& run : whole.at("runs")) records.push_back(record_from_json(run));
    } else if (!whole.is_discarded()) {
      records.push_back(record_from_json(whole));
    } else {
      std::istringstream lines(text);
      for (std::string line; std::getline(lines, line);)
        if (!line.empty()) records.push_back(record_from_json(Json::parse(line)));
    }
  } catch (const Error& e) { throw Error(ErrorKind::usage, e.message(), path, e.fix()); } catch (const Json::exception& e) {
    throw Error(ErrorKind::usage, fmt::format("this is no JSON: {}", e.what()), path,
                "make it with ergometer export --format json -o FILE");
  }
  return records;
}

// All runs of the sweep whose id is, begins or ends with `text`; empty when there is none.
std::vector<Record> records_of_sweep(const std::vector<Record>& all, const std::string& text) {
  std::set<std::string> ids;
  for (const Record& r : all)
    if (!r.sweep_id.empty() && (r.sweep_id.starts_with(text) || r.sweep_id.ends_with(text))) ids.insert(r.sweep_id);
  if (ids.count(text)) ids = {text};
  if (ids.size() > 1)
    throw Error(ErrorKind::usage, fmt::format("\"{}\" fits {} sweeps", text, ids.size()), "compare", "give more of its id");
  std::vector<Record> records;
  for (const Record& r : all)
    if (ids.count(r.sweep_id)) records.push_back(r);
  return records;
}

std::vector<Record> records_of(const std::string& what, const std::string& results) {
  if (fs::is_directory(what)) {
    if (fs::exists(fs::path(what) / "record.json")) return records_of_file((fs::path(what) / "record.json").string());
    return Store(what, Store::Access::read).list();
  }
  if (fs::is_regular_file(what)) return records_of_file(what);
  const Store store(results, Store::Access::read);
  std::vector<Record> records = records_of_sweep(store.list(), what);
  if (records.empty()) records.push_back(store.load(what));
  return records;
}

std::vector<Record> wanted(const std::string& what, const std::string& results) {
  std::vector<Record> records = records_of(what, results);
  if (records.empty()) throw Error(ErrorKind::usage, "there are no runs in it", what);
  return records;
}

}  // namespace

void register_compare(CLI::App& app) {
  struct Options {
    std::string a, b, results, json;
    double threshold_percent = 1;
    bool fail = false;
  };
  auto o = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("compare", "Is B faster than A? Point by point, with the evidence");
  command.add_option("A", o->a, "A run, a sweep's id, a results folder, or an exported JSON file")->required();
  command.add_option("B", o->b, "The same")->required();
  command.add_option("--threshold", o->threshold_percent, "The smallest change that counts, in %")
      ->check(CLI::Range(0.01, 100.0))
      ->capture_default_str();
  command.add_flag("--fail-on-regression", o->fail, "Exit with 3 when B is slower anywhere, or has failed or missing points");
  add_results_option(command, o->results);
  add_json_option(command, o->json);
  command.callback([o] {
    const Comparison c = compare(wanted(o->a, o->results), wanted(o->b, o->results), o->threshold_percent / 100);
    if (!write_json(comparison_json(c), o->json)) fmt::print("{}", comparison_text(c));
    if (o->fail && has_regression(c)) exit_with(regression_found);
  });
}

}  // namespace erg
