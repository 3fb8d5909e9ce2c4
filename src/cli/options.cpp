// Shared options, JSON output and exit codes.
#include "cli/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "core/file.hpp"
#include "core/interrupt.hpp"
#include "core/terminal.hpp"

namespace erg {

SpecRequest SpecOptions::complete() const {
  SpecRequest r = request;
  if (!device.empty()) r.set.push_back("device=" + device);
  if (repeat > 0) r.set.push_back(fmt::format("measure.repeat={}", repeat));
  return r;
}

void add_spec_options(CLI::App& command, SpecOptions& o) {
  command.add_option("SPEC", o.request.source, "A spec file, or a preset such as gpt-117m or resnet50")->required();
  command.add_option("--device", o.device, "Where to run: cpu, ref");
  command.add_option("--set", o.request.set, "Set a key: workload.global_batch=64; may be given often")->allow_extra_args(false);
  command.add_option("--label", o.request.labels, "A label that is stored with the run: key=value")->allow_extra_args(false);
  command.add_option("--repeat", o.repeat, "How often, each time in a new process")->check(CLI::Range(1, 1'000'000));
}

void add_results_option(CLI::App& command, std::string& folder) {
  if (folder.empty()) folder = "ergometer-results";
  command.add_option("--results", folder, "The results folder")->envname("ERGOMETER_RESULTS")->capture_default_str();
}

void add_launcher_option(CLI::App& command, std::string& launcher) {
  command.add_option("--launcher", launcher,
                     "Words before every run's command, such as \"srun -n 1 --gpus {devices}\"; also {point}, {id}");
}

void add_max_failures_option(CLI::App& command, int& max_failures) {
  command.add_option("--max-failures", max_failures, "Begin nothing more after so many failed points")->check(CLI::Range(1, 1'000'000));
}

// Set in the environment, so that the children of a sweep look there too.
void add_sysfs_option(CLI::App& command) {
  command.add_option_function<std::string>(
      "--sysfs-root", [](const std::string& folder) { ::setenv("ERGOMETER_SYSFS_ROOT", folder.c_str(), 1); },
      "Where sensors are looked for, in place of /sys; also ERGOMETER_SYSFS_ROOT");
}

void add_json_option(CLI::App& command, std::string& target) {
  command.add_option("--json", target, "Write JSON to a file, or to stdout with -");
}

bool write_json(const Json& json, const std::string& target) {
  if (target == "-")
    fmt::print("{}\n", json_text(json));
  else if (!target.empty())
    write_file_atomically(target, json_text(json) + "\n");
  return target == "-";
}

Json runs_json(const std::vector<Record>& records) {
  Json runs = Json::array();
  for (const Record& r : records) runs.push_back(to_json(r));
  return {{"runs", std::move(runs)}};
}

int exit_code(const std::vector<Record>& records, bool strict) {
  if (interrupted()) return 130;
  bool invalid = false;
  std::vector<std::string> failures;
  for (const Record& r : records) {
    invalid |= r.status == Status::invalid;
    if (r.status == Status::failed || r.status == Status::oom || r.status == Status::timeout || r.status == Status::interrupted)
      failures.push_back(r.error_kind);
  }
  const auto all = [&](const char* kind) {
    return std::all_of(failures.begin(), failures.end(), [&](const std::string& f) { return f == kind; });
  };
  if (!failures.empty()) return all("unavailable") ? 77 : all("usage") ? 2 : 1;
  return invalid && strict ? 4 : 0;
}

void exit_with(int code) { throw CLI::RuntimeError(code); }

void print_error(const std::string& text) {
  const char* red = use_color(stderr) ? "\x1b[31m" : "";
  fmt::print(stderr, "{}ergometer: error: {}{}\n", red, *red ? "\x1b[0m" : "", text);
}

}  // namespace erg
