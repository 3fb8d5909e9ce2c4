// `run --profile`: where the time of a step goes. Steps are taken after the window, so that the window never holds a clock reading more.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "engine/engine.hpp"
#include "run/probe.hpp"
#include "store/record.hpp"
#include "workload/workload.hpp"

namespace erg {

// What one span was, in the order of their begins.
struct TraceEvent {
  std::string_view site;  // of the op around it, or its own
  Work work;
  double begin_s = 0, end_s = 0;
  int depth = 0;         // of how many spans it lies in
  bool divided = false;  // spans lie in it
};

// Keeps the spans of a step. A span's time ends when the device has done what was asked of it, so an engine that runs ahead is stopped
// at every span.
class Recorder final : public Trace {
 public:
  Recorder(Engine& engine, Clock& clock) : engine_(engine), clock_(clock) { engine_.set_trace(this); }
  ~Recorder() override { engine_.set_trace(nullptr); }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void begin(std::string_view site, const Work& work) override;
  void end() override;
  const std::vector<TraceEvent>& events() const { return events_; }

 private:
  Engine& engine_;
  Clock& clock_;
  std::vector<TraceEvent> events_;
  std::vector<size_t> open_;
};

// A row of the profile: time and work of one kind in a step; products are told apart by site, "qkv" for "h.3.qkv".
struct ProfileRow {
  std::string work, site;
  double time_s = 0;
  int64_t calls = 0;
  double flops = 0, bytes = 0;
};
struct Profile {
  std::vector<TraceEvent> events;
  std::vector<double> step_times;
  size_t median_step = 0;        // of step_times
  std::vector<ProfileRow> rows;  // of that step, by time, the longest first; "other", what no undivided span covers, last
  double step_time_s() const { return step_times.at(median_step); }  // which the rows sum to
};

struct ProfileLength {
  int64_t fewest_steps = 3, most_steps = 50;
  double time_s = 2;
};
// Takes steps until they are as many and as long as asked. The rows are those of the step of median time: a mean would mix in whatever
// disturbed a single step.
Profile profile_steps(Workload& workload, Engine& engine, Clock& clock, const ProfileLength& length = {});
std::vector<ProfileRow> profile_rows(std::span<const TraceEvent> step);  // the events of one step, that of the whole step first

// {"steps", "step_time_s", "window_step_time_s", "peak_flops", "peak_bytes_per_s", "limit_s", "rows":[{"work", "site", "time_s", "share",
//  "calls", "flops", "bytes", "flops_per_s", "bytes_per_s", "limit_s"}, ...]} (docs/profile.md). limit_s: the least time that the probe's
// peaks allow, max(flops / peak, bytes / peak); null without a probe and where a row has neither.
Json profile_json(const Profile& profile, const ProbePeak& peak, double window_step_time_s);
// The spans in Chrome's trace event format, for chrome://tracing and Perfetto.
Json chrome_trace(const Profile& profile, const std::string& title);

}  // namespace erg
