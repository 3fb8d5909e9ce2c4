// The measured speed of memory, counted as STREAM counts: bytes that the formula reads and writes, nothing that a cache does besides.
#pragma once
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "probe/timing.hpp"

namespace erg {

struct StreamRate {
  std::string stream;  // "fill", "read", "copy", "triad"
  double best_bytes_per_s = 0, median_bytes_per_s = 0;
  int64_t calls = 0;
};

struct MemoryProbe {
  int64_t array_bytes = 0;  // of each of three arrays
  bool non_temporal_stores = false;
  std::vector<StreamRate> streams;
  bool check_passed = false;  // the arrays held what their formulas say, to the last value
};

// Arrays should be at least four times the last-level cache. Throws Error(out_of_memory).
MemoryProbe probe_memory(Engine& engine, int64_t array_bytes, double measure_s, Clock& clock);

// A stream over nothing: on a CPU, threads are called and join again.
CallTimes probe_empty_call(Engine& engine, double measure_s, Clock& clock);

}  // namespace erg
