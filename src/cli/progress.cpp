// Progress callbacks of the commands.
#include "cli/progress.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "cli/live_sweep.hpp"
#include "core/clock.hpp"
#include "run/child_progress.hpp"

namespace erg {
namespace {

constexpr double parent_interval_s = 0.2;

}  // namespace

Progress show_progress(StatusLine& status) {
  return [&status, phase_began = 0.0, phase_shown = std::string()](const std::string& phase, double fraction,
                                                                   const std::string& detail) mutable {
    const double now = steady_clock().now();
    if (phase != phase_shown) phase_began = now;
    phase_shown = phase;
    const std::string left = fraction > 0 ? ", " + time_left((now - phase_began) * (1 - fraction) / fraction) : "";
    status.update(phase + left + (detail.empty() ? "" : ": " + detail));
  };
}

Progress tell_parent() {
  return [last = -1e9, phase_told = std::string()](const std::string& phase, double fraction, const std::string& detail) mutable {
    const double now = steady_clock().now();
    if (phase == phase_told && now - last < parent_interval_s) return;
    last = now;
    phase_told = phase;
    fmt::print(stderr, "{}\n", progress_line({phase, fraction, detail}));
  };
}

SweepResult show_sweep(const StoredSweep& sweep, Store& store, const SweepRequest& request) {
  LiveSweep watcher;
  const SweepResult result = run_sweep(sweep, store, {watcher, request.retry, request.max_failures, {}});
  watcher.clear();
  const std::string id = sweep.id;
  if (result.elsewhere)
    watcher.message(fmt::format("{} of {} points are being run by other processes", result.elsewhere, sweep.points.size()));
  if (result.open)
    watcher.message(fmt::format("{} of {} points are still to be run: ergometer resume {}", result.open, sweep.points.size(), id));
  return result;
}

}  // namespace erg
