// Pieces of records in words, shared by the tables: what a run is called, a metric with its unit and interval.
#include "report/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/units.hpp"
#include "store/metrics.hpp"

namespace erg {

std::string workload_title(const Record& r) {
  std::string title = field_text(r.spec, "workload.preset");
  if (title.empty()) title = field_text(r.spec, "workload.kind");
  const bool axis = std::any_of(r.coordinates.begin(), r.coordinates.end(), [](const auto& c) { return c.first == "workload.sequence"; });
  const std::string sequence = field_text(r.spec, "workload.sequence"), size = field_text(r.spec, "workload.image_size");
  if (!sequence.empty() && !axis) title += ", sequence " + sequence;
  if (!size.empty()) title += ", image " + size;
  return title;
}

std::string precision_of(const Record& r) {
  const std::string planned = field_text(r.plan, "precision");
  return planned.empty() ? field_text(r.spec, "workload.precision") : planned;
}

std::string device_title(const Record& r) {
  std::string title = field_text(r.spec, "device");
  const std::string name = field_text(r.environment, "engine.device"), threads = field_text(r.environment, "engine.threads"),
                    library = field_text(r.environment, "engine.library");
  if (!name.empty()) title += ": " + name;
  if (!threads.empty()) title += fmt::format(", {} thread{}", threads, threads == "1" ? "" : "s");
  if (!library.empty()) title += ", " + library;
  return title;
}

std::string rate_name(const Record& r) {
  for (const char* name : {"images_per_s", "tokens_per_s"})
    if (r.metrics.count(name)) return name;
  return {};
}

std::optional<double> metric_value(const Record& r, const std::string& name) {
  const auto m = r.metrics.find(name);
  return m == r.metrics.end() ? std::nullopt : m->second.value;
}

std::string metric_text(const Metric& m) {
  if (!m.value) return "n/a";
  if (m.unit == "s") return std::abs(*m.value) < 60 ? si(*m.value, "s", 4) : duration(*m.value);
  if (m.unit == "B") return bytes_text(*m.value);
  if (m.unit == "1") return significant(*m.value, 3);
  if (m.unit == "1/s" || m.unit == "1/Wh") return significant(*m.value) + " " + m.unit.substr(1);
  return significant(*m.value) + " " + m.unit;
}

std::string one_line(const std::string& text) {
  std::string line;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\n') {
      line += text[i];
      continue;
    }
    while (i + 1 < text.size() && (text[i + 1] == ' ' || text[i + 1] == '\n')) ++i;
    line += "; ";
  }
  return line;
}

std::string interval_text(const Metric& m) {
  if (!m.value || !m.ci95 || *m.value == 0) return {};
  const double above = m.ci95->second - *m.value, below = *m.value - m.ci95->first, half = std::max(above, below);
  const bool lopsided = half > 0.05 * std::abs(*m.value) && half > 2 * std::min(above, below);
  if (lopsided || half >= std::abs(*m.value))
    return fmt::format("({} to {})", significant(m.ci95->first, 3), significant(m.ci95->second, 3));
  return fmt::format("± {:.1f} %", 100 * std::abs(half / *m.value));
}

}  // namespace erg
