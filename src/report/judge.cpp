// The rules, in the order in which they are tried.
#include "report/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/inference.hpp"

namespace erg {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr size_t many_launches = 9;  // google/benchmark's compare.py recommends as many for a U test
constexpr double significant_p = 0.05, single_launch_gap = 0.30;

bool apart(const Interval& a, const Interval& b) { return a.high < b.low || b.high < a.low; }  // false with a NaN

Interval interval_of(const Launches& side) {
  if (side.values.size() > 1) return student_ci95(side.values);
  return side.within.value_or(Interval{nan, nan});
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * std::abs(share)); }
std::string signed_percent(double share) { return fmt::format("{:+.1f} %", 100 * share); }

void judge_single(const Launches& a, const Launches& b, Judgement direction, Judged& j) {
  const std::string sides = a.values.size() > 1 ? "B has" : b.values.size() > 1 ? "A has" : "A and B have";
  const std::string unknown = fmt::format("{} one launch: how much runs differ from each other is unknown", sides);
  if (apart(j.a95, j.b95) && std::abs(j.change) >= single_launch_gap) {
    j.judgement = direction;
    j.reason = fmt::format("{}, but the gap exceeds {:.0f} %", unknown, 100 * single_launch_gap);
    return;
  }
  j.reason = unknown;
  j.next = "repeat with --repeat 3 or more";
}

void explain_unclear(size_t fewest, bool differs, double threshold, Judged& j) {
  if (differs)
    j.reason = fmt::format("they differ by {}, less than the {} that counts, but may differ by up to {}", percent(j.change),
                           percent(threshold), percent(std::max(std::abs(j.change95.low), std::abs(j.change95.high))));
  else
    j.reason = fmt::format("the launches' spread leaves {} to {} open", signed_percent(j.change95.low), signed_percent(j.change95.high));
  j.next = fewest < many_launches ? fmt::format("repeat more often: --repeat {}", many_launches)
                                  : "quiet the machine (flags of the runs), measure longer, or accept a larger --threshold";
}

}  // namespace

Judged judge(const Launches& a, const Launches& b, bool higher_is_better, double threshold) {
  Judged j;
  j.a = median(a.values);
  j.b = median(b.values);
  j.change = j.b / j.a - 1;
  j.a95 = interval_of(a);
  j.b95 = interval_of(b);
  const Interval ratio = ratio_ci95(a.values, b.values);
  j.change95 = {ratio.low - 1, ratio.high - 1};
  const Judgement direction = (j.change > 0) == higher_is_better ? Judgement::faster : Judgement::slower;
  const size_t fewest = std::min(a.values.size(), b.values.size());
  if (fewest < 2) {
    judge_single(a, b, direction, j);
    return j;
  }
  bool differs = apart(j.a95, j.b95);
  if (fewest >= many_launches) {
    j.p = mann_whitney(a.values, b.values).p;
    differs = *j.p < significant_p;
  }
  if (differs && std::abs(j.change) >= threshold) {
    j.judgement = direction;
    j.reason = j.p ? fmt::format("Mann-Whitney p = {:.2g}", *j.p) : "the 95 % intervals do not overlap";
  } else if (j.change95.low >= -threshold && j.change95.high <= threshold) {
    j.judgement = Judgement::same;
    j.reason = fmt::format("the 95 % interval of the change, {} to {}, is within ± {}", signed_percent(j.change95.low),
                           signed_percent(j.change95.high), percent(threshold));
  } else {
    explain_unclear(fewest, differs, threshold, j);
  }
  return j;
}

}  // namespace erg
