// Two sets of records, point by point: who is faster, what is missing, and in which facts the machines differ.
#pragma once
#include <string>
#include <vector>

#include "report/judge.hpp"
#include "store/record.hpp"

namespace erg {

struct Difference {
  std::string key, a, b;  // "cpu.model"; several values are separated by " | "
};

struct ComparedMetric {
  std::string name, unit;
  size_t launches_a = 0, launches_b = 0;
  Judged judged;
};

struct ComparedPoint {
  std::string title;                    // "gpt-117m, sequence 256, batch 4, bf16"
  std::string status_a, status_b;       // "3 PASSED", "2 PASSED, 1 FAILED", "missing"
  std::vector<ComparedMetric> metrics;  // throughput first; empty when a side has no result
  std::vector<Difference> spec;         // where the two specs differ: points that were not paired by their hash
  std::vector<std::string> notes;       // failures with their reasons, flags of the runs
  bool regression = false;              // slower, more energy, or B has failed launches or no result where A has none of that
};

struct Comparison {
  std::vector<ComparedPoint> points;  // in A's order, then what only B has
  std::vector<Difference> machine;    // facts of the environment and engine that differ
  double threshold = 0.01;
};

// Points are paired by spec hash; what remains by workload, batch and coordinates where that is unique on both sides; one point
// against one point is compared in any case. All PASSED launches of a point count. Nothing is dropped: what has no partner is a point too.
Comparison compare(const std::vector<Record>& a, const std::vector<Record>& b, double threshold);

bool has_regression(const Comparison& comparison);
// FASTER, SLOWER, SAME, UNCLEAR; for energy BETTER and WORSE.
const char* verdict_word(const ComparedMetric& metric);

std::string comparison_text(const Comparison& comparison);  // for people
Json comparison_json(const Comparison& comparison);         // docs/compare.md

}  // namespace erg
