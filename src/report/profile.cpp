// Where the time of a step goes, as a table: a row a kind of work, the longest first, beside what the machine's measured peaks would allow.
#include <fmt/format.h>

#include "core/terminal.hpp"
#include "core/units.hpp"
#include "report/table.hpp"

namespace erg {
namespace {

std::string rate(const Json& value) { return value.is_number() ? significant(value.get<double>() / 1e9, 3) : "–"; }

std::string share(const Json& value, const Json& of) {
  if (!value.is_number() || !of.is_number() || of.get<double>() <= 0) return "–";
  return fmt::format("{:.0f} %", 100 * value.get<double>() / of.get<double>());
}

std::string peak(const Json& value, const char* unit) { return value.is_number() ? si(value.get<double>(), unit) : "n/a"; }

}  // namespace

std::string profile_table(const Record& r) {
  if (!r.profile.is_object()) return {};
  const Json& p = r.profile;
  const bool probed = p.at("peak_flops").is_number() && p.at("peak_bytes_per_s").is_number();
  std::vector<Table::Column> columns = {{"work", false}, {"calls"}, {"time"}, {"share"}, {"GFLOP/s"}};
  if (probed) columns.push_back({"of peak"});
  columns.push_back({"GB/s"});
  if (probed) columns.insert(columns.end(), {{"of peak"}, {"limit"}, {"of limit"}});
  Table table(columns);
  const auto add = [&](const std::string& name, const Json& row) {
    std::vector<std::string> cells = {name, row.value("calls", 0) > 0 ? row.at("calls").dump() : "–", duration(row.at("time_s")),
                                      fmt::format("{:.1f} %", 100 * row.at("share").get<double>()), rate(row.at("flops_per_s"))};
    if (probed) cells.push_back(share(row.at("flops_per_s"), p.at("peak_flops")));
    cells.push_back(rate(row.at("bytes_per_s")));
    if (probed) {
      cells.push_back(share(row.at("bytes_per_s"), p.at("peak_bytes_per_s")));
      cells.push_back(row.at("limit_s").is_number() ? duration(row.at("limit_s")) : "–");
      cells.push_back(share(row.at("limit_s"), row.at("time_s")));
    }
    table.add(std::move(cells));
  };
  double total = 0;
  for (const Json& row : p.at("rows")) {
    const std::string site = row.at("site");
    add(row.at("work").get<std::string>() + (site.empty() ? "" : ", " + site), row);
    total += row.at("time_s").get<double>();
  }
  add("step", {{"time_s", total},
               {"share", total / p.at("step_time_s").get<double>()},
               {"flops_per_s", nullptr},
               {"bytes_per_s", nullptr},
               {"limit_s", p.at("limit_s")}});

  const double step = p.at("step_time_s"), window = p.at("window_step_time_s");
  std::string text = fmt::format("a step of {}, the median of {} after the window (median of the window: {}, {:+.1f} %)\n", duration(step),
                                 p.at("steps").dump(), duration(window), 100 * (step / window - 1));
  text += table.text();
  if (probed)
    text += fmt::format(
        "peaks: {} and {} by ergometer probe; limit: the least time that these allow, FLOPs and minimum traffic being what they are\n",
        peak(p.at("peak_flops"), "FLOP/s"), peak(p.at("peak_bytes_per_s"), "B/s"));
  else
    text += fmt::format("peaks n/a: {}\n", p.value("no_peak", ""));
  return text;
}

}  // namespace erg
