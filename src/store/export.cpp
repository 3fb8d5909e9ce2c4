// One row a run: what was asked for, what came out. Columns without a value in any of the rows are left out; units are in the names.
#include "store/export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "core/terminal.hpp"
#include "store/metrics.hpp"

namespace erg {
namespace {

struct Column {
  std::string title;
  std::function<std::string(const Record&)> cell;
};

// The shortest digits that give the same double again, with a point in every locale.
std::string number(double x) { return fmt::format("{}", x); }

std::string flag_codes(const Record& r) {
  std::string codes;
  for (const Flag& f : r.flags) codes += (codes.empty() ? "" : " ") + f.code;
  return codes;
}

Column spec_column(const std::string& title, const std::string& key) {
  return {title, [key](const Record& r) { return field_text(r.spec, key); }};
}

std::vector<Column> all_columns(const std::vector<Record>& records) {
  std::vector<Column> columns = {{"id", [](const Record& r) { return r.id; }},
                                 {"status", [](const Record& r) { return std::string(name_of(r.status)); }},
                                 {"status_reason", [](const Record& r) { return r.status_reason; }},
                                 {"started", [](const Record& r) { return r.started; }},
                                 spec_column("name", "name"),
                                 spec_column("workload", "workload.kind"),
                                 spec_column("preset", "workload.preset"),
                                 spec_column("device", "device"),
                                 {"device_name", [](const Record& r) { return field_text(r.environment, "engine.device"); }},
                                 spec_column("devices", "devices"),
                                 {"precision", [](const Record& r) { return field_text(r.plan, "precision"); }},
                                 spec_column("global_batch", "workload.global_batch"),
                                 {"micro_batch", [](const Record& r) { return field_text(r.plan, "micro_batch"); }},
                                 spec_column("repeat", "repeat_index"),
                                 {"sweep_id", [](const Record& r) { return r.sweep_id; }},
                                 {"spec_hash", [](const Record& r) { return r.spec_hash; }}};

  std::set<std::string> axes;
  for (const Record& r : records)
    for (const auto& [key, value] : r.coordinates) axes.insert(key);
  for (const std::string& axis : axes)
    columns.push_back({"axis." + axis, [axis](const Record& r) {
                         for (const auto& [key, value] : r.coordinates)
                           if (key == axis) return value;
                         return std::string();
                       }});

  for (const MetricKind& kind : metric_kinds()) {
    const auto metric = [name = std::string(kind.name)](const Record& r) {
      const auto m = r.metrics.find(name);
      return m == r.metrics.end() ? Metric{} : m->second;
    };
    columns.push_back({kind.name, [metric](const Record& r) {
                         const Metric m = metric(r);
                         return m.value ? number(*m.value) : "";
                       }});
    columns.push_back({fmt::format("{}_ci95_low", kind.name), [metric](const Record& r) {
                         const Metric m = metric(r);
                         return m.ci95 ? number(m.ci95->first) : "";
                       }});
    columns.push_back({fmt::format("{}_ci95_high", kind.name), [metric](const Record& r) {
                         const Metric m = metric(r);
                         return m.ci95 ? number(m.ci95->second) : "";
                       }});
  }
  columns.push_back({"flops_convention", [](const Record& r) { return field_text(r.plan, "flops_convention"); }});
  columns.push_back({"stopped_by", [](const Record& r) { return field_text(r.phases, "stopped_by"); }});
  columns.push_back({"flags", flag_codes});
  return columns;
}

Table tidy(const std::vector<Record>& records) {
  std::vector<Table::Column> titles;
  std::vector<std::vector<std::string>> rows(records.size());
  for (const Column& column : all_columns(records)) {
    std::vector<std::string> cells(records.size());
    std::transform(records.begin(), records.end(), cells.begin(), column.cell);
    if (column.title != "id" && std::all_of(cells.begin(), cells.end(), [](const std::string& c) { return c.empty(); })) continue;
    titles.push_back({column.title, false});
    for (size_t i = 0; i < rows.size(); ++i) rows[i].push_back(std::move(cells[i]));
  }
  Table table(titles);
  for (auto& row : rows) table.add(std::move(row));
  return table;
}

}  // namespace

std::string to_csv(const std::vector<Record>& records) { return tidy(records).csv(); }
std::string to_markdown(const std::vector<Record>& records) { return tidy(records).markdown(); }

std::string to_jsonl(const std::vector<Record>& records) {
  std::string text;
  for (const Record& r : records) text += to_json(r).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  return text;
}

}  // namespace erg
