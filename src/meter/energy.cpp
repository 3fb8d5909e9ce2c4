// Every sensor becomes a line of joules over time, whose difference at the window's edges is the answer.
#include "meter/energy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace erg {
namespace {

constexpr double largest_power_w = 5000;
constexpr double shortest_window_s = 5, updates_wanted = 50;
constexpr double mismatch = 0.05;

double gap_limit(double median_s) { return std::max(3.0, 5 * median_s); }

// Of the intervals between readings, from the last one before the window to the first one after it.
void describe_intervals(const std::vector<MeterReading>& r, double begin_s, double end_s, DomainEnergy& e) {
  std::vector<double> intervals;
  for (size_t i = 1; i < r.size(); ++i)
    if (r[i].time_s > begin_s && r[i - 1].time_s < end_s) intervals.push_back(r[i].time_s - r[i - 1].time_s);
  if (intervals.empty()) return;
  std::sort(intervals.begin(), intervals.end());
  e.median_interval_s = intervals[(intervals.size() - 1) / 2];
  e.max_gap_s = intervals.back();
}

// Power at a time between two readings.
double power_at(const MeterReading& a, const MeterReading& b, double t) {
  return b.time_s == a.time_s ? b.value : a.value + (b.value - a.value) * (t - a.time_s) / (b.time_s - a.time_s);
}

double integrate(const std::vector<MeterReading>& r, double begin_s, double end_s) {
  double joules = 0;
  for (size_t i = 1; i < r.size(); ++i) {
    const double from = std::max(begin_s, r[i - 1].time_s), to = std::min(end_s, r[i].time_s);
    if (to > from) joules += 0.5 * (power_at(r[i - 1], r[i], from) + power_at(r[i - 1], r[i], to)) * (to - from);
  }
  return joules;
}

// Joules between two readings of a counter; a reason instead when they cannot be known.
double counted(const MeterReading& a, const MeterReading& b, double range_j, std::string& reason) {
  const double longest_s = b.time_s - a.time_s, most_j = largest_power_w * std::max(longest_s, 1e-3);
  if (range_j > 0 && most_j >= range_j)
    reason =
        fmt::format("sampling_gap_exceeded: {:.1f} s without a reading, in which the counter may have started again unseen", longest_s);
  if (b.value >= a.value) return b.value - a.value;
  if (range_j <= 0) {
    reason = "counter_decreased_unknown_range: the counter fell, and its largest value cannot be read";
    return 0;
  }
  const double wrapped = b.value + range_j - a.value;
  if (wrapped < 0 || wrapped > most_j)
    reason = fmt::format("counter_reset: the counter fell by {:.0f} J, which is no wrap-around at its largest value of {:.0f} J",
                         a.value - b.value, range_j);
  return wrapped;
}

double count(const std::vector<MeterReading>& r, double range_j, double begin_s, double end_s, std::string& reason) {
  double joules = 0;
  bool moved = false;
  for (size_t i = 1; i < r.size() && reason.empty(); ++i) {
    const MeterReading &a = r[i - 1], &b = r[i];
    const double from = std::max(begin_s, a.time_s), to = std::min(end_s, b.time_s);
    if (to <= from) continue;
    const double between = counted(a, b, range_j, reason);
    moved |= between != 0;
    joules += between * (to - from) / (b.time_s - a.time_s);
  }
  if (reason.empty() && !moved)
    reason = end_s - begin_s >= 1 ? fmt::format("counter_stuck: the counter stood still for {:.1f} s", end_s - begin_s)
                                  : "window_shorter_than_update: the counter did not change";
  return joules;
}

const char* unmeasured = "no sensor measures what trains here";

void check_length(const DomainEnergy& d, double window_s, std::vector<MeterFinding>& findings) {
  // Without a known period, a reading is at best an update.
  const double updates = window_s / std::max({d.sensor.period_s, d.sensor.counter ? 0.0 : d.median_interval_s, 1e-9});
  if (window_s >= shortest_window_s && updates >= updates_wanted) return;
  findings.push_back({"window_short", fmt::format("energy of {}: {:.1f} s and {:.0f} updates of its sensor; {:.0f} s and {:.0f} are wanted",
                                                  d.sensor.domain, window_s, std::min(updates, 1e6), shortest_window_s, updates_wanted)});
}

// A counter and a power sensor of one domain.
void cross_check(DomainEnergy& counter, const DomainEnergy& other, std::vector<MeterFinding>& findings) {
  if (!other.energy_j) return;
  if (!counter.energy_j && counter.reason.starts_with("counter_stuck")) {
    findings.push_back({"counter_stuck", fmt::format("{}: {}; its power was integrated instead", counter.sensor.domain, counter.reason)});
    counter.energy_j = other.energy_j;
    counter.sensor.name = other.sensor.name + " (integrated)";
    counter.sensor.counter = false;
    counter.sensor.path = other.sensor.path;
    counter.reason.clear();
    return;
  }
  if (!counter.energy_j || *other.energy_j <= 0) return;
  const double ratio = *counter.energy_j / *other.energy_j;
  if (std::abs(ratio - 1) > mismatch)
    findings.push_back({"counter_mismatch", fmt::format("{}: the counter says {:.1f} J, the integrated power {:.1f} J, ratio {:.3f}",
                                                        counter.sensor.domain, *counter.energy_j, *other.energy_j, ratio)});
}

}  // namespace

DomainEnergy energy_of(const MeterTrace& trace, double begin_s, double end_s) {
  const std::vector<MeterReading>& r = trace.readings;
  DomainEnergy e{.sensor = trace.sensor, .energy_j = {}, .reason = {}, .readings = int64_t(r.size()), .missing = trace.missing};
  if (r.size() < 2) {
    e.reason = fmt::format("insufficient_samples: {} reading{} in the whole run", r.size(), r.size() == 1 ? "" : "s");
    return e;
  }
  if (r.front().time_s > begin_s || r.back().time_s < end_s || end_s <= begin_s) {
    e.reason = "window_not_bracketed: the window has no reading before or none after it";
    return e;
  }
  describe_intervals(r, begin_s, end_s, e);
  double joules = 0;
  if (trace.sensor.counter)
    joules = count(r, trace.sensor.range_j, begin_s, end_s, e.reason);
  else if (e.max_gap_s > gap_limit(e.median_interval_s))
    e.reason = fmt::format("sampling_gap_exceeded: {:.1f} s without a reading", e.max_gap_s);
  else
    joules = integrate(r, begin_s, end_s);
  if (e.reason.empty()) e.energy_j = joules;
  return e;
}

WindowEnergy window_energy(const std::vector<MeterTrace>& traces, double begin_s, double end_s) {
  WindowEnergy w;
  for (const MeterTrace& t : traces) w.domains.push_back(energy_of(t, begin_s, end_s));
  for (DomainEnergy& d : w.domains)
    for (const DomainEnergy& other : w.domains)
      if (d.sensor.counter && !other.sensor.counter && other.sensor.domain == d.sensor.domain) cross_check(d, other, w.findings);
  double total = 0;
  bool any = false;
  for (const DomainEnergy& d : w.domains) {
    if (!d.sensor.not_added.empty()) continue;
    any = true;
    if (!d.energy_j) {
      w.reason += fmt::format("{}{}: {}", w.reason.empty() ? "" : "; ", d.sensor.domain, d.reason);
      continue;
    }
    total += *d.energy_j;
    check_length(d, end_s - begin_s, w.findings);
  }
  if (!any) w.reason = unmeasured;
  if (w.reason.empty()) w.total_j = total;
  return w;
}

}  // namespace erg
