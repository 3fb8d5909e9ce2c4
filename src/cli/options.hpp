// Options and outputs that several commands share.
#pragma once
#include <string>
#include <vector>

#include "spec/spec.hpp"
#include "store/record.hpp"

namespace CLI {
class App;
}

namespace erg {

// SPEC, --device, --set, --label, --repeat.
struct SpecOptions {
  SpecRequest request;
  std::string device;
  int64_t repeat = 0;
  SpecRequest complete() const;  // with --device and --repeat as settings
};
void add_spec_options(CLI::App& command, SpecOptions& options);

void add_results_option(CLI::App& command, std::string& folder);     // --results DIR, ERGOMETER_RESULTS
void add_launcher_option(CLI::App& command, std::string& launcher);  // --launcher TEMPLATE
void add_max_failures_option(CLI::App& command, int& max_failures);  // --max-failures N
void add_sysfs_option(CLI::App& command);                            // --sysfs-root DIR, ERGOMETER_SYSFS_ROOT
void add_json_option(CLI::App& command, std::string& target);        // --json FILE|-

// JSON to stdout for "-", to a file for a name, nowhere for "". True when stdout is taken: then nothing else is printed there.
bool write_json(const Json& json, const std::string& target);
Json runs_json(const std::vector<Record>& records);  // {"runs":[...]}

// DESIGN §4: 130 after an interrupt, 77 when every failure is a missing device, 2 when every failure is a usage error, 1 for other
// failures, 4 for INVALID ones under --strict, else 0.
int exit_code(const std::vector<Record>& records, bool strict);
[[noreturn]] void exit_with(int code);  // ends the command: parsing returns this code

void print_error(const std::string& text);  // "ergometer: error: ..." on stderr

}  // namespace erg
