// The table of a run or sweep: a group for each workload, precision and device, a row a run, and below it what is missing and why.
#include "report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/terminal.hpp"
#include "core/units.hpp"
#include "report/words.hpp"
#include "store/metrics.hpp"

namespace erg {
namespace {

using Group = std::vector<const Record*>;

// In order of first appearance. By the precision that was asked for: a run that failed early has no other.
std::vector<Group> grouped(const std::vector<Record>& records) {
  std::vector<Group> groups;
  std::map<std::string, size_t> place;
  for (const Record& r : records) {
    const std::string key =
        fmt::format("{}|{}|{}", workload_title(r), field_text(r.spec, "workload.precision"), field_text(r.spec, "device"));
    const auto [at, is_new] = place.emplace(key, groups.size());
    if (is_new) groups.emplace_back();
    groups[at->second].push_back(&r);
  }
  // Repeats are interleaved over points; here a point's runs stand together.
  for (Group& g : groups) {
    std::map<std::string, size_t> first;
    for (const Record* r : g) first.emplace(r->spec_hash, first.size());
    std::stable_sort(g.begin(), g.end(), [&](const Record* a, const Record* b) { return first.at(a->spec_hash) < first.at(b->spec_hash); });
  }
  return groups;
}

const Record& most_telling(const Group& g) {
  const auto planned = std::find_if(g.begin(), g.end(), [](const Record* r) { return r->plan.is_object(); });
  return planned == g.end() ? *g.front() : **planned;
}

std::string coordinate(const Record& r, const std::string& key) {
  for (const auto& [name, value] : r.coordinates)
    if (name == key) return value;
  return {};
}

// Axes that a group's rows differ in, apart from the batch, which always has its column.
std::vector<std::string> varying_axes(const Group& g) {
  std::vector<std::string> axes;
  for (const auto& [key, first] : g.front()->coordinates)
    if (key != "workload.global_batch" &&
        std::any_of(g.begin(), g.end(), [&, &k = key, &f = first](const Record* r) { return coordinate(*r, k) != f; }))
      axes.push_back(key);
  return axes;
}

std::string dash_or(const std::string& text) { return text.empty() ? "–" : text; }

std::string cell(const Record& r, const std::string& metric) {
  const auto m = r.metrics.find(metric);
  if (m == r.metrics.end()) return "–";
  return metric_text(m->second);
}

std::string bare(const Record& r, const std::string& metric, int digits = 4) {
  const auto value = metric_value(r, metric);
  return value ? significant(*value, digits) : r.metrics.count(metric) ? "n/a" : "–";
}

std::string rate_cell(const Record& r) {
  const auto m = r.metrics.find(rate_name(r));
  if (m == r.metrics.end()) return "–";
  if (!m->second.value) return "n/a";
  const std::string interval = interval_text(m->second);
  return significant(*m->second.value) + (interval.empty() ? "" : " " + interval);
}

std::string share_cell(const Record& r, const std::string& metric) {
  const auto value = metric_value(r, metric);
  return value ? fmt::format("{:.1f} %", 100 * *value) : r.metrics.count(metric) ? "n/a" : "–";
}

std::string loss_cell(const Record& r) {
  std::string text;
  for (const char* name : {"loss_first", "loss_last"})
    if (const auto loss = metric_value(r, name)) text += (text.empty() ? "" : " → ") + fmt::format("{:.3f}", *loss);
  return dash_or(text);
}

std::string validation_cell(const Record& r) {
  const auto loss = metric_value(r, "loss_validation"), top1 = metric_value(r, "top1_validation");
  if (!loss) return "–";
  return top1 ? fmt::format("{:.3f}, top-1 {:.1f} %", *loss, 100 * *top1) : fmt::format("{:.3f}", *loss);
}

std::string status_cell(const Record& r) {
  std::string text = name_of(r.status);
  for (const Flag& f : r.flags) text += (&f == &r.flags.front() ? ": " : ", ") + f.code;
  return text;
}

std::string rate_title(const Group& g) {
  for (const Record* r : g)
    if (const std::string name = rate_name(*r); !name.empty()) return name.substr(0, name.find('_')) + "/s";
  return "samples/s";
}

std::string row_name(const Record& r, const std::vector<std::string>& axes) {
  std::string name = "batch " + field_text(r.spec, "workload.global_batch");
  for (const std::string& axis : axes) name += fmt::format(", {} {}", axis.substr(axis.rfind('.') + 1), coordinate(r, axis));
  return name;
}

Table table_of(const Group& g, const std::vector<std::string>& axes, bool repeats) {
  // Only with a probe is there a column for it.
  const bool probed = std::any_of(g.begin(), g.end(), [](const Record* r) { return metric_value(*r, "mfu_probe").has_value(); });
  std::vector<Table::Column> columns = {{"batch"}};
  for (const std::string& axis : axes) columns.push_back({axis.substr(axis.rfind('.') + 1)});
  if (repeats) columns.push_back({"repeat"});
  columns.insert(columns.end(), {{rate_title(g)}, {"TFLOP/s"}, {"MFU"}});
  if (probed) columns.push_back({"of probe"});
  columns.insert(columns.end(), {{"step"}, {"memory"}, {"planned"}, {"loss", false}, {"validation", false}, {"status", false}});
  Table table(columns);
  for (const Record* r : g) {
    std::vector<std::string> row = {field_text(r->spec, "workload.global_batch")};
    for (const std::string& axis : axes) row.push_back(coordinate(*r, axis));
    if (repeats) row.push_back(std::to_string(1 + std::atoll(field_text(r->spec, "repeat_index").c_str())));
    row.insert(row.end(), {rate_cell(*r), bare(*r, "model_tflops_per_device", 3), share_cell(*r, "mfu")});
    if (probed) row.push_back(share_cell(*r, "mfu_probe"));
    row.insert(row.end(), {cell(*r, "step_time_s"), cell(*r, "peak_memory_bytes"), cell(*r, "predicted_memory_bytes"), loss_cell(*r),
                           validation_cell(*r), status_cell(*r)});
    table.add(std::move(row));
  }
  return table;
}

// Why a cell says n/a, once for each reason.
std::vector<std::string> missing(const Group& g) {
  std::vector<std::string> lines;
  for (const auto& [metric, title] :
       {std::pair{"mfu", "MFU"}, {"mfu_probe", "share of the measured peak"}, {"energy_j", "energy"}, {"loss_validation", "validation"}})
    for (const Record* r : g) {
      const auto m = r->metrics.find(metric);
      if (m == r->metrics.end() || m->second.value || m->second.reason.starts_with("withheld")) continue;
      const std::string line = fmt::format("{} n/a: {}", title, m->second.reason);
      if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
    }
  return lines;
}

}  // namespace

std::string results_table(const std::vector<Record>& records) {
  std::string text;
  for (const Group& g : grouped(records)) {
    const Record& head = most_telling(g);
    const std::vector<std::string> axes = varying_axes(g);
    const bool repeats = std::any_of(g.begin(), g.end(), [](const Record* r) {
      const std::string i = field_text(r->spec, "repeat_index");
      return !i.empty() && i != "0";
    });
    if (!text.empty()) text += "\n";
    text += fmt::format("{}, {}, on {}\n", workload_title(head), precision_of(head), device_title(head));
    text += table_of(g, axes, repeats).text();
    for (const Record* r : g)
      if (!r->status_reason.empty())
        text += fmt::format("{}: {}, {}\n", row_name(*r, axes), name_of(r->status), one_line(r->status_reason));
    if (const std::string convention = field_text(head.plan, "flops_convention"); !convention.empty())
      text += fmt::format("TFLOP/s: model FLOPs per device, {}\n", convention);
    for (const std::string& line : missing(g)) text += line + "\n";
  }
  return text;
}

std::string list_table(const std::vector<Record>& records) {
  Table table({{"run", false},
               {"workload", false},
               {"batch"},
               {"precision", false},
               {"device", false},
               {"throughput"},
               {"", false},
               {"loss", false},
               {"status", false}});
  for (const Record& r : records) {
    const auto rate = r.metrics.find(rate_name(r));
    const bool known = rate != r.metrics.end() && rate->second.value;
    table.add({r.id, workload_title(r), field_text(r.spec, "workload.global_batch"), precision_of(r), field_text(r.spec, "device"),
               known ? significant(*rate->second.value) : "–", known ? rate->first.substr(0, rate->first.find('_')) + "/s" : "",
               loss_cell(r), status_cell(r)});
  }
  return table.text();
}

}  // namespace erg
