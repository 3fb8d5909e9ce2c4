// One run in full: what was asked for, what came out, how it was measured, and on what.
#include <fmt/format.h>

#include "core/error.hpp"
#include "core/terminal.hpp"
#include "core/units.hpp"
#include "report/table.hpp"
#include "report/words.hpp"
#include "store/metrics.hpp"

namespace erg {
namespace {

void line(std::string& text, const std::string& name, const std::string& value) {
  if (!value.empty()) text += fmt::format("  {:<12} {}\n", name, value);
}

std::string joined(const Json& array) {
  if (!array.is_array()) return array.is_null() ? "" : array.is_string() ? array.get<std::string>() : array.dump();
  std::string text;
  for (const Json& v : array)
    text += (text.empty() ? "" : " ") + (v.is_string() ? v.get<std::string>() : v.is_number_float() ? significant(v) : v.dump());
  return text;
}

std::string results(const Record& r) {
  Table table({{"metric", false}, {"value"}, {"95 %", false}, {"", false}});
  for (const MetricKind& kind : metric_kinds()) {
    const auto m = r.metrics.find(kind.name);
    if (m == r.metrics.end()) continue;
    table.add({kind.name, metric_text(m->second), interval_text(m->second), m->second.value ? kind.meaning : m->second.reason});
  }
  return table.text();
}

std::string phases(const Record& r) {
  std::string text;
  for (const std::string phase : {"init", "check", "warmup", "settle", "measure", "profile", "validation"}) {
    if (!r.phases.is_object() || !r.phases.contains(phase + "_s")) continue;
    const std::string steps = field_text(r.phases, phase + "_steps");
    text += fmt::format("{}{} {}{}", text.empty() ? "" : " · ", phase, duration(r.phases.at(phase + "_s")),
                        steps.empty() ? "" : fmt::format(" ({} steps)", steps));
  }
  return text;
}

// "3 steps: 2 data_wait, 1 unknown; the slowest took 1.8 × the median"
std::string outliers(const Record& r) {
  if (!r.statistics.is_object() || !r.statistics.contains("outliers")) return {};
  const Json& o = r.statistics.at("outliers");
  const int steps = o.value("steps", 0);
  if (steps == 0) return "none";
  const Json counts = o.value("causes", Json::object());
  std::string causes;
  for (const auto& [cause, count] : counts.items()) causes += fmt::format("{}{} {}", causes.empty() ? "" : ", ", count.dump(), cause);
  const Json largest = o.value("largest", Json::array());
  const double ratio = largest.empty() ? 0 : largest.front().value("ratio", 0.0);
  return fmt::format("{} step{}: {}{}", steps, steps == 1 ? "" : "s", causes,
                     ratio > 1 ? fmt::format("; the slowest took {} × the median", significant(ratio, 3)) : "");
}

std::string energy(const Json& e) {
  std::string text;
  const Json domains = e.value("domains", Json::array());
  for (const Json& d : domains)
    line(text, "energy of",
         fmt::format(
             "{} ({}): {}{}", field_text(d, "domain"), field_text(d, "sensor"),
             d.at("energy_j").is_number() ? significant(d.at("energy_j")) + " J, " + field_text(d, "quality") : field_text(d, "reason"),
             d.value("added", true) ? "" : ", not added: " + field_text(d, "not_added")));
  for (const Json& part : e.value("not_included", Json::array())) line(text, domains.empty() ? "no energy" : "not included", joined(part));
  return text;
}

std::string machine(const Record& r) {
  std::string text;
  const Json& e = r.environment;
  line(text, "device", device_title(r));
  line(text, "kernels for", field_text(e, "engine.isa"));
  line(text, "host", field_text(e, "host.name"));
  line(text, "system", field_text(e, "host.distribution") + ", " + field_text(e, "host.kernel"));
  line(text, "processor",
       fmt::format("{}, sockets {}, cores {}, threads {}", field_text(e, "cpu.model"), field_text(e, "cpu.sockets"),
                   field_text(e, "cpu.cores"), field_text(e, "cpu.threads")));
  line(text, "governor", field_text(e, "cpu.governor"));
  if (e.contains("memory") && e.at("memory").value("total_bytes", Json()).is_number())
    line(text, "memory", bytes_text(e.at("memory").at("total_bytes")));
  line(text, "virtual", field_text(e, "host.virtual_machine"));
  const std::string git = field_text(e, "binary.git_revision");
  line(text, "ergometer",
       fmt::format("{}, git {}{}, {}, {}", field_text(e, "binary.version"), git.substr(0, 12),
                   field_text(e, "binary.git_dirty") == "true" ? " with changes" : "", field_text(e, "binary.build_type"),
                   field_text(e, "binary.compiler")));
  return text;
}

}  // namespace

namespace {

std::string record_in_words(const Record& r) {
  std::string text = fmt::format("{}  {}{}\n", r.id, name_of(r.status), r.status_reason.empty() ? "" : ": " + r.status_reason);
  line(text, "name", field_text(r.spec, "name"));
  line(text, "workload",
       fmt::format("{}, global batch {}, {}", workload_title(r), field_text(r.spec, "workload.global_batch"), precision_of(r)));
  line(text, "data", field_text(r.spec, "workload.data"));
  if (r.plan.is_object()) {
    line(text, "parameters", field_text(r.plan, "parameters"));
    line(text, "a step",
         fmt::format("{} × micro-batch {}, {} ({})", field_text(r.plan, "accumulation"), field_text(r.plan, "micro_batch"),
                     si(r.plan.value("flops_per_step", 0.0), "FLOP"), field_text(r.plan, "flops_convention")));
  }
  line(text, "started", r.started);
  line(text, "sweep", r.sweep_id);
  std::string coordinates;
  for (const auto& [key, value] : r.coordinates) coordinates += (coordinates.empty() ? "" : ", ") + key + " = " + value;
  line(text, "point", coordinates);
  line(text, "spec hash", r.spec_hash);
  line(text, "repeat with", r.repro);

  if (!r.metrics.empty()) text += "\n" + results(r);
  if (const std::string profile = profile_table(r); !profile.empty()) text += "\n" + profile;
  text += "\nhow it was measured\n";
  line(text, "phases", phases(r));
  line(text, "stopped by", field_text(r.phases, "stopped_by"));
  line(text, "outliers", outliers(r));
  if (r.check.is_object()) {
    line(text, "check",
         field_text(r.check, "verdict") + (field_text(r.check, "detail").empty() ? "" : ": " + field_text(r.check, "detail")));
    line(text, "  losses", joined(r.check.value("losses", Json())));
    line(text, "  reference", joined(r.check.value("reference", Json())));
  }
  for (const Flag& f : r.flags) line(text, "flag", f.code + (f.detail.empty() ? "" : ": " + f.detail));
  if (r.probe.is_object()) {
    line(text, "probe",
         fmt::format("{} {}, {} threads, measured {} ({})", si(r.probe.value("peak_flops", 0.0), "FLOP/s"), field_text(r.probe, "dtype"),
                     field_text(r.probe, "threads"), field_text(r.probe, "measured"), field_text(r.probe, "file")));
    for (const Json& f : r.probe.value("flags", Json::array()))
      line(text, "  its flag", field_text(f, "code") + ": " + field_text(f, "detail"));
  }
  if (r.energy.is_object()) text += energy(r.energy);
  if (!r.tail.empty()) text += "\nits last words\n" + r.tail + "\n";
  if (r.environment.is_object()) text += "\nmachine\n" + machine(r);
  return text;
}

}  // namespace

std::string show_record(const Record& r) try {
  return record_in_words(r);
} catch (const nlohmann::json::exception& e) {  // a file may hold anything below its fields
  throw Error(ErrorKind::usage, fmt::format("the record has a value of a type that does not belong there: {}", e.what()), r.id,
              "remove or restore its record.json");
}

}  // namespace erg
