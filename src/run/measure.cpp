// The loop itself: warm-up, settle, window. Every phase takes the same steps in the same way; only what becomes of their times differs.
#include "run/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/interrupt.hpp"
#include "core/units.hpp"
#include "run/rules.hpp"

namespace erg {
namespace {

// The stop rule's bootstrap may take this share of the window's time, so that milliseconds of steps are not spent on statistics.
constexpr double statistics_share = 1.0 / 200;
constexpr double report_interval_s = 0.1;

struct Step {
  double time_s, loss, data_wait_s;
  int64_t samples;
};

struct Report {
  double fraction;
  std::string detail;
};

class Loop {
 public:
  Loop(Workload& workload, Engine& engine, const MeasureSpec& spec, Clock& clock, const Progress& progress, Window& window)
      : workload_(workload), engine_(engine), spec_(spec), clock_(clock), progress_(progress), window_(window) {}

  // Each returns false when the run has to end here.
  bool warm_up() {
    const double begin = clock_.now();
    bool done = false;
    while (!done && going_on()) {
      const Step step = take_step();
      window_.warmup_s = clock_.now() - begin;
      ++window_.warmup_steps;
      done = warmed_up(spec_.warmup_min_s, window_.warmup_s, window_.warmup_steps, last_step_s_ = step.time_s);
      report("warm-up", [&] {
        return Report{window_.warmup_s / std::max(spec_.warmup_min_s, 1e-9),
                      fmt::format("step {}, {}", window_.warmup_steps, duration(step.time_s))};
      });
    }
    return going_on();
  }

  bool settle() {
    const double begin = clock_.now(), limit = spec_.settle_limit();
    SettleRule rule(last_step_s_);
    while (going_on() && !window_.settled && window_.settle_s < limit) {
      rule.add(take_step().time_s);
      window_.settle_s = clock_.now() - begin;
      ++window_.settle_steps;
      window_.settled = rule.settled();
      report("settle", [&] {
        return Report{window_.settle_s / limit, std::isfinite(rule.spread()) ? fmt::format("blocks differ by {:.1f} %, {:.1f} % allowed",
                                                                                           100 * rule.spread(), 100 * rule.allowed_spread())
                                                                             : fmt::format("step {}", window_.settle_steps)};
      });
    }
    if (going_on() && !window_.settled)
      window_.flags.push_back(
          {"not_settled", std::isfinite(rule.spread())
                              ? fmt::format("the last three block medians differ by {:.1f} %, {:.1f} % allowed, after {}",
                                            100 * rule.spread(), 100 * rule.allowed_spread(), duration(window_.settle_s))
                              : fmt::format("{} is too short for three blocks of {} steps", duration(limit), rule.block_steps())});
    return going_on();
  }

  void measure(const WindowEdges& edges) {
    StopRule rule(spec_);
    engine_.synchronize();
    if (edges.begin) edges.begin();
    const double begin = clock_.now();
    double next_statistics = begin;
    while (going_on() && window_.stopped_by.empty()) {
      const Step step = take_step();
      window_.step_times.push_back(step.time_s);
      window_.losses.push_back(step.loss);
      window_.data_waits.push_back(step.data_wait_s);
      window_.samples += step.samples;
      rule.add(step.time_s);
      if (edges.step) edges.step();
      const double now = clock_.now();
      window_.measure_s = now - begin;
      const bool statistics = now >= next_statistics;
      if (going_on()) window_.stopped_by = rule.reason(window_.measure_s, statistics);
      if (statistics) next_statistics = clock_.now() + (clock_.now() - now) / statistics_share;
      report("measure", [&] {
        return Report{window_.measure_s / (window_.measure_s + rule.remaining_s(window_.measure_s)), describe(step, rule)};
      });
    }
    if (edges.end) edges.end();
    if (window_.stopped_by == "max_time" && !rule.long_enough(window_.measure_s))
      window_.flags.push_back({"window_short", fmt::format("{} steps in {}; {} steps and {} are wanted", window_.step_times.size(),
                                                           duration(window_.measure_s), rule.needed_steps(), duration(spec_.min_time_s))});
  }

 private:
  bool going_on() {
    if (window_.stopped_by.empty() && interrupted()) window_.stopped_by = "interrupted";
    return window_.stopped_by.empty();
  }

  Step take_step() {
    const double begin = clock_.now();
    const StepResult result = workload_.step();
    const double loss = workload_.read_loss();
    engine_.synchronize();
    const double time_s = clock_.now() - begin;
    if (window_.all_losses.empty()) window_.loss_first = loss;
    window_.all_losses.push_back(loss);
    if (!std::isfinite(loss)) window_.stopped_by = "loss_not_finite";
    return {time_s, loss, result.data_wait_s, result.samples};
  }

  std::string describe(const Step& step, const StopRule& rule) const {
    const std::string precision = std::isfinite(rule.half_width()) ? fmt::format(" ± {:.1f} %", 100 * rule.half_width()) : "";
    const double rate = double(window_.samples) / window_.measure_s;
    return fmt::format("step {}, {} {}/s{}, loss {}", window_.step_times.size(), significant(rate), workload_.sample_unit(), precision,
                       significant(step.loss));
  }

  // The window's time includes what lies between steps, so nothing is composed that nobody will see.
  template <class Compose>
  void report(std::string_view phase, Compose compose) {
    const double now = clock_.now();
    if (!progress_ || (phase == reported_phase_ && now - reported_at_ < report_interval_s)) return;
    reported_phase_ = phase;
    reported_at_ = now;
    const Report r = compose();
    progress_(std::string(phase), std::clamp(r.fraction, 0.0, 1.0), r.detail);
  }

  Workload& workload_;
  Engine& engine_;
  const MeasureSpec& spec_;
  Clock& clock_;
  const Progress& progress_;
  Window& window_;
  double last_step_s_ = 0;
  std::string_view reported_phase_;
  double reported_at_ = 0;
};

}  // namespace

Window measure_window(Workload& workload, Engine& engine, const MeasureSpec& spec, Clock& clock, const Progress& progress,
                      const WindowEdges& edges) {
  Window window;
  Loop loop(workload, engine, spec, clock, progress, window);
  if (loop.warm_up() && loop.settle()) loop.measure(edges);
  return window;
}

}  // namespace erg
