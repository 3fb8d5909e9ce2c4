#include "run/profile.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace erg {
namespace {

// "qkv" of "h.3.qkv": the same layer of every block.
std::string_view last_part(std::string_view name) { return name.substr(name.rfind('.') + 1); }

Json number(double v) { return v > 0 ? Json(v) : Json(nullptr); }

Json limit_json(const ProfileRow& row, const ProbePeak& peak) {
  if (!peak.flops || !peak.bytes_per_s || (row.flops <= 0 && row.bytes <= 0)) return nullptr;
  return std::max(row.flops / *peak.flops, row.bytes / *peak.bytes_per_s);
}

}  // namespace

void Recorder::begin(std::string_view site, const Work& work) {
  engine_.synchronize();
  if (!open_.empty()) {
    TraceEvent& around = events_[open_.back()];
    around.divided = true;
    if (site.empty()) site = around.site;
  }
  events_.push_back({site, work, 0, 0, int(open_.size()), false});
  open_.push_back(events_.size() - 1);
  events_.back().begin_s = clock_.now();
}

void Recorder::end() {
  engine_.synchronize();
  events_[open_.back()].end_s = clock_.now();
  open_.pop_back();
}

std::vector<ProfileRow> profile_rows(std::span<const TraceEvent> step) {
  std::map<std::pair<std::string_view, std::string_view>, ProfileRow> rows;
  double left = step.empty() ? 0 : step.front().end_s - step.front().begin_s;
  for (const TraceEvent& e : step) {
    if (e.divided || e.depth == 0) continue;  // its pieces count
    const std::string_view site = is_product(e.work) ? last_part(e.site) : std::string_view();
    ProfileRow& row = rows[{e.work.kind, site}];
    row.work = e.work.kind, row.site = site;
    row.time_s += e.end_s - e.begin_s, row.flops += e.work.flops, row.bytes += e.work.bytes;
    ++row.calls;
    left -= e.end_s - e.begin_s;
  }
  std::vector<ProfileRow> sorted;
  for (auto& [key, row] : rows) sorted.push_back(std::move(row));
  std::stable_sort(sorted.begin(), sorted.end(), [](const ProfileRow& a, const ProfileRow& b) { return a.time_s > b.time_s; });
  sorted.push_back({other_work, "", left});
  return sorted;
}

Profile profile_steps(Workload& workload, Engine& engine, Clock& clock, const ProfileLength& length) {
  Profile profile;
  Recorder recorder(engine, clock);
  std::vector<size_t> begins;  // of each step, in the events
  double time = 0;
  const auto steps = [&] { return int64_t(begins.size()); };
  while (steps() < length.fewest_steps || (time < length.time_s && steps() < length.most_steps)) {
    begins.push_back(recorder.events().size());
    {
      const Span span(&recorder, {"step"});
      workload.step();
      workload.read_loss();
    }
    const TraceEvent& step = recorder.events()[begins.back()];
    profile.step_times.push_back(step.end_s - step.begin_s);
    time += profile.step_times.back();
  }
  profile.events = recorder.events();
  std::vector<size_t> order(begins.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return profile.step_times[a] < profile.step_times[b]; });
  profile.median_step = order[(order.size() - 1) / 2];
  begins.push_back(profile.events.size());
  const size_t first = begins[profile.median_step];
  profile.rows = profile_rows(std::span(profile.events).subspan(first, begins[profile.median_step + 1] - first));
  return profile;
}

Json profile_json(const Profile& profile, const ProbePeak& peak, double window_step_time_s) {
  const double step = profile.step_time_s();
  Json rows = Json::array();
  double limit = 0;
  for (const ProfileRow& r : profile.rows) {
    const Json of_row = limit_json(r, peak);
    if (of_row.is_number()) limit += of_row.get<double>();
    rows.push_back({{"work", r.work},
                    {"site", r.site},
                    {"time_s", r.time_s},
                    {"share", r.time_s / step},
                    {"calls", r.calls},
                    {"flops", r.flops},
                    {"bytes", r.bytes},
                    {"flops_per_s", number(r.time_s > 0 ? r.flops / r.time_s : 0)},
                    {"bytes_per_s", number(r.time_s > 0 ? r.bytes / r.time_s : 0)},
                    {"limit_s", of_row}});
  }
  return {{"steps", profile.step_times.size()},
          {"step_time_s", step},
          {"window_step_time_s", window_step_time_s},
          {"peak_flops", peak.flops ? Json(*peak.flops) : Json(nullptr)},
          {"peak_bytes_per_s", peak.bytes_per_s ? Json(*peak.bytes_per_s) : Json(nullptr)},
          {"no_peak", peak.flops && peak.bytes_per_s ? "" : peak.reason},
          {"limit_s", number(limit)},
          {"rows", rows}};
}

Json chrome_trace(const Profile& profile, const std::string& title) {
  constexpr double microseconds = 1e6;
  Json events = Json::array();
  events.push_back({{"name", "process_name"}, {"ph", "M"}, {"pid", 0}, {"tid", 0}, {"args", {{"name", title}}}});
  const double begin = profile.events.empty() ? 0 : profile.events.front().begin_s;
  for (const TraceEvent& e : profile.events) {
    const double duration = e.end_s - e.begin_s;
    Json args = Json::object();
    if (!e.site.empty()) args["op"] = e.site;
    if (e.work.flops > 0 && duration > 0) args["GFLOP/s"] = e.work.flops / duration / 1e9;
    if (e.work.bytes > 0 && duration > 0) args["GB/s"] = e.work.bytes / duration / 1e9;
    // An op is named by its place in the network, a piece of it by its kind.
    const bool is_op = e.depth == 1 && !e.site.empty();
    events.push_back({{"name", is_op ? std::string(e.site) : std::string(e.work.kind)},
                      {"cat", e.work.kind},
                      {"ph", "X"},
                      {"ts", (e.begin_s - begin) * microseconds},
                      {"dur", duration * microseconds},
                      {"pid", 0},
                      {"tid", 0},
                      {"args", args}});
  }
  return {{"traceEvents", events}, {"displayTimeUnit", "ms"}};
}

}  // namespace erg
