// A comparison as a table with remarks, and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/terminal.hpp"
#include "core/units.hpp"
#include "report/compare.hpp"

namespace erg {
namespace {

// "105.2 ± 0.5 % (3)": median, half of the 95 % interval, launches.
std::string side_cell(double value, const Interval& ci, size_t launches) {
  const double half = std::max(ci.high - value, value - ci.low) / value;
  return fmt::format("{}{} ({})", significant(value), std::isfinite(half) ? fmt::format(" ± {:.1f} %", 100 * half) : "", launches);
}

std::string metric_title(const ComparedMetric& m) {
  const std::string what = m.name.substr(0, m.name.find('_'));
  return what + (m.name.ends_with("_per_wh") ? "/Wh" : "/s");
}

// What a point's line cannot say.
std::string remarks(const ComparedPoint& p) {
  std::vector<std::string> lines;
  for (const ComparedMetric& m : p.metrics) {
    const Judged& j = m.judged;
    lines.push_back(fmt::format("{} {}: {}{}", metric_title(m), verdict_word(m), j.reason, j.next.empty() ? "" : "; " + j.next));
  }
  for (const Difference& d : p.spec) lines.push_back(fmt::format("spec: {} {} → {}", d.key, d.a, d.b));
  lines.insert(lines.end(), p.notes.begin(), p.notes.end());
  std::string text = lines.empty() ? "" : p.title + "\n";
  for (const std::string& line : lines) text += "  " + line + "\n";
  return text;
}

std::string summary(const Comparison& c) {
  std::map<std::string, int> counts;
  int missing = 0, regressions = 0;
  for (const ComparedPoint& p : c.points) {
    missing += p.metrics.empty();
    regressions += p.regression;
    for (const ComparedMetric& m : p.metrics) ++counts[verdict_word(m)];
  }
  std::string text = fmt::format("{} point{}", c.points.size(), c.points.size() == 1 ? "" : "s");
  for (const char* word : {"FASTER", "SLOWER", "SAME", "UNCLEAR", "BETTER", "WORSE"})
    if (counts.count(word)) text += fmt::format(", {} {}", counts[word], word);
  if (missing) text += fmt::format(", {} without a comparison", missing);
  return text + fmt::format(" (threshold {:.3g} %); {} regression{}\n", 100 * c.threshold, regressions, regressions == 1 ? "" : "s");
}

Json number(double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); }
Json interval(const Interval& i) { return std::isfinite(i.low) && std::isfinite(i.high) ? Json{i.low, i.high} : Json(nullptr); }

Json differences_json(const std::vector<Difference>& differences) {
  Json list = Json::array();
  for (const Difference& d : differences) list.push_back({{"key", d.key}, {"a", d.a}, {"b", d.b}});
  return list;
}

Json metric_json(const ComparedMetric& m) {
  const Judged& j = m.judged;
  return {{"name", m.name},
          {"unit", m.unit},
          {"verdict", verdict_word(m)},
          {"a", {{"median", number(j.a)}, {"ci95", interval(j.a95)}, {"launches", m.launches_a}}},
          {"b", {{"median", number(j.b)}, {"ci95", interval(j.b95)}, {"launches", m.launches_b}}},
          {"change", number(j.change)},
          {"change_ci95", interval(j.change95)},
          {"p", j.p ? number(*j.p) : Json(nullptr)},
          {"reason", j.reason},
          {"next", j.next}};
}

}  // namespace

std::string comparison_text(const Comparison& c) {
  Table table({{"point", false}, {"", false}, {"A"}, {"B"}, {"change"}, {"verdict", false}});
  for (const ComparedPoint& p : c.points) {
    if (p.metrics.empty()) table.add({p.title, "", p.status_a, p.status_b, "", p.regression ? "REGRESSION" : "–"});
    for (const ComparedMetric& m : p.metrics)
      table.add({p.title, metric_title(m), side_cell(m.judged.a, m.judged.a95, m.launches_a),
                 side_cell(m.judged.b, m.judged.b95, m.launches_b), fmt::format("{:+.1f} %", 100 * m.judged.change), verdict_word(m)});
  }
  std::string text = table.text() + "median over launches ± half of its 95 % interval (launches)\n\n";
  for (const ComparedPoint& p : c.points) text += remarks(p);
  if (!c.machine.empty()) text += "\nA and B were not measured under the same conditions\n";
  for (const Difference& d : c.machine) text += fmt::format("  {}: {} → {}\n", d.key, d.a, d.b);
  return text + "\n" + summary(c);
}

Json comparison_json(const Comparison& c) {
  Json points = Json::array();
  for (const ComparedPoint& p : c.points) {
    Json metrics = Json::array();
    for (const ComparedMetric& m : p.metrics) metrics.push_back(metric_json(m));
    points.push_back({{"point", p.title},
                      {"status_a", p.status_a},
                      {"status_b", p.status_b},
                      {"regression", p.regression},
                      {"metrics", metrics},
                      {"spec_differences", differences_json(p.spec)},
                      {"notes", p.notes}});
  }
  return {{"schema_version", 1},
          {"threshold", c.threshold},
          {"regression", has_regression(c)},
          {"points", points},
          {"environment_differences", differences_json(c.machine)}};
}

}  // namespace erg
