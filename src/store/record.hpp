// A run's record (DESIGN §6): everything one run said, as one JSON file that is the truth.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace erg {

using Json = nlohmann::ordered_json;

enum class Status { running, passed, failed, invalid, oom, skipped, timeout, interrupted };
const char* name_of(Status);                  // "PASSED", ...
Status status_from(const std::string& name);  // throws Error(usage)

struct Metric {
  std::optional<double> value;  // nullopt: unavailable, with `reason`
  std::string unit;
  std::string better;  // "higher", "lower" or ""
  std::optional<std::pair<double, double>> ci95;
  int64_t n = 0;
  std::string reason;
};

struct Flag {
  std::string code, detail;
};

struct Record {
  std::string id;  // time, host and random bits: unique over machines, sorts by time
  Status status = Status::running;
  std::string status_reason;
  std::string error_kind;  // of a FAILED run: "usage", "failed", "unavailable"; decides the exit code
  Json spec, plan, environment;
  std::string spec_hash, sweep_id;
  std::vector<std::pair<std::string, std::string>> coordinates;
  std::map<std::string, Metric> metrics;
  Json energy;      // {"domains":[],"not_included":[...]}
  Json probe;       // which measured peak mfu_probe is held against; null when there is none
  Json phases;      // {"init_s":..., "check_s":..., "warmup_s":..., "settle_s":..., "measure_s":..., "stopped_by":...}
  Json statistics;  // of the window: {"outliers":{...},"drift":{...},...}
  Json check;       // {"verdict":"passed","losses":[...],"reference":[...],...}: METHOD §2
  Json profile;  // {"steps":...,"step_time_s":...,"rows":[...]}: where the time goes (run --profile, docs/profile.md); null: not asked for
  Json data;     // {"kind":"tokens","description":...,"files":[...],"train_tokens":...,"position":[...]}: what it trained on
  std::vector<Flag> flags;
  std::vector<double> step_times, losses;  // every step of the window; in samples.json, not in record.json
  std::string repro, started;              // ISO 8601
  std::string tail;                        // last lines of a failed child's output
  Json process;                            // {"pid":...,"pid_started":...,"host":...,"boot_id":...} of the run that writes this
};

// Indented text. Bytes that are not UTF-8, such as a library's message or a path, become U+FFFD instead of an error.
std::string json_text(const Json& json);

Json to_json(const Record&);           // with "schema_version":1; without samples
Record record_from_json(const Json&);  // throws Error(usage) naming the field

}  // namespace erg
