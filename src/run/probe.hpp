// `ergometer probe`: this machine's measured peaks, kept in the results folder under the machine's identity, and what a run makes of them.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/dtype.hpp"
#include "engine/engine.hpp"
#include "probe/gemm.hpp"
#include "store/record.hpp"

namespace erg {

// What decides how fast this machine is and does not change with its load: processor, allowed CPUs, memory, instruction set, library.
Json stable_facts(const Json& environment, const EngineInfo& engine);
std::string machine_identity(const Json& stable_facts);  // 16 hex digits

std::filesystem::path probe_path(const std::filesystem::path& results, const std::string& identity);
// The probe file of this machine; null when there is none. Throws Error(usage) naming a file that is broken.
Json load_probe(const std::filesystem::path& results, const std::string& identity);

struct ProbeOptions {
  std::string device = "cpu";
  std::vector<int> threads;  // empty: 1, 2, 4 ... and all that are allowed
  bool again = false;        // measure even what is known
  ProbeTimes times;
  double stream_s = 1;      // of each stream
  int64_t array_bytes = 0;  // 0: four times the last-level caches
  std::vector<GemmShape> shapes = gemm_shapes();
  std::function<void(const std::string&)> progress;
};
// Measures what the probe file does not have yet, writes the file after each thread count, and returns it (null when interrupted before
// there was anything):
//   {"schema_version":1, "identity", "facts", "device", "measured", "ergometer", "results":[{"threads", "gemm":{"bf16":{...}}, "memory",
//    "empty_step_s", "empty_call_s", "flags"}, ...]}
// Throws Error(failed) when a check fails: then nothing is stored. Error(unavailable) when the device is not there,
// Error(usage) for more threads than are allowed.
Json probe_machine(const ProbeOptions& options, const std::filesystem::path& results);

// 1, 2, 4 ... below `all`, and `all`.
std::vector<int> thread_counts(int all);

// The peak that a run is held against.
struct ProbePeak {
  std::optional<double> flops;  // FLOP/s
  std::string reason;           // why there is none, with the fix
  Json source;                  // {"identity", "file", "measured", "threads", "dtype", "peak_flops", "shape"}; null without a peak
  std::optional<double> bytes_per_s = {};  // of the triad; there when flops is, unless the file lacks it
};
// dtype: of activations; threads: of the engine.
ProbePeak find_peak(const std::filesystem::path& results, const Json& environment, const EngineInfo& engine, DType dtype);

}  // namespace erg
