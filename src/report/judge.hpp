// Is B faster than A? The verdict over a few launches a side, with its reason and what to do next (docs/compare.md).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/stats.hpp"

namespace erg {

enum class Judgement { faster, slower, same, unclear };

struct Launches {
  std::vector<double> values;      // one a launch, above 0
  std::optional<Interval> within;  // of a single launch: its window's own 95 % interval
};

struct Judged {
  Judgement judgement = Judgement::unclear;
  double a = 0, b = 0;       // medians over the launches
  double change = 0;         // b / a - 1
  Interval a95, b95;         // over launches (Student's t), or within the only one; NaN when unknown
  Interval change95;         // of b / a - 1 by Welch's interval of logarithms; NaN with one launch on a side
  std::optional<double> p;   // Mann and Whitney's, with 9 launches or more a side
  std::string reason, next;  // next: empty where nothing is to be done
};

// Two or more launches a side:
//   FASTER, SLOWER  |change| >= threshold, and the 95 % intervals do not overlap (from 9 launches a side on: Mann-Whitney p < 0.05)
//   SAME            the 95 % interval of the change lies within +- threshold
//   UNCLEAR         else
// With one launch on a side the spread between runs is unknown. Model-level benchmarks differ by 5-10 % from run to run, and only 0.8 % of
// the noise lies beyond 30 % (pytorch/benchmark #1681): FASTER and SLOWER need disjoint intervals and 30 %, all else is UNCLEAR.
Judged judge(const Launches& a, const Launches& b, bool higher_is_better, double threshold);

}  // namespace erg
