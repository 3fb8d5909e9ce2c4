// The rule keeps the last hundred steps; the thread looks twice a second.
#include "core/watchdog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/clock.hpp"
#include "core/units.hpp"

namespace erg {
namespace {

constexpr double times_median = 10, times_without_steps = 30;
constexpr size_t kept_steps = 101;

bool has_steps(std::string_view phase) { return phase == "warm-up" || phase == "settle" || phase == "measure"; }

}  // namespace

void HangRule::beat(std::string_view phase, double now) {
  if (has_steps(phase) && has_steps(phase_)) {
    steps_.push_back(now - last_);
    if (steps_.size() > kept_steps) steps_.pop_front();
  }
  phase_ = phase;
  last_ = now;
  if (begin_ < 0) begin_ = now;
}

double HangRule::median_step_s() const {
  if (steps_.empty()) return 0;
  std::vector<double> sorted(steps_.begin(), steps_.end());
  const auto middle = sorted.begin() + std::ptrdiff_t(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

double HangRule::limit_s() const {
  const double step = median_step_s(), silent = times_without_steps * limits_.min_s;
  if (has_steps(phase_) && step > 0) return limits_.patience * std::max(limits_.min_s, times_median * step);
  if (phase_ == "validate") return limits_.patience * std::max(silent, times_median * step * double(limits_.validation_steps));
  return limits_.patience * silent;
}

std::string HangRule::verdict(double now) const {
  const double silent = now - last_, limit = limit_s(), whole = limits_.patience * limits_.whole_s;
  if (whole > 0 && begin_ >= 0 && now - begin_ > whole)
    return fmt::format("the run took longer than {} (measure.limit_s = {}), phase {}", duration(whole), limits_.whole_s, phase_);
  if (silent <= limit) return {};
  return fmt::format("{} for {} in phase {}, {} allowed (measure.hang_min_s = {})", has_steps(phase_) ? "no step" : "no progress",
                     duration(silent), phase_, duration(limit), limits_.min_s);
}

Watchdog::Watchdog(HangRule rule, Actions actions, double interval_s)
    : interval_s_(interval_s), actions_(std::move(actions)), rule_(std::move(rule)), looked_at_(steady_clock().now()) {
  rule_.beat("start", 0);
  thread_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

// A gap longer than two looks means that nobody let us run.
double Watchdog::awake(double now) const { return awake_s_ + std::min(now - looked_at_, 2 * interval_s_); }

void Watchdog::beat(std::string_view phase) {
  const std::lock_guard lock(mutex_);
  rule_.beat(phase, awake(steady_clock().now()));
}

void Watchdog::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Watchdog::watch(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    wake_.wait_for(lock, stop, std::chrono::duration<double>(interval_s_), [] { return false; });
    if (stop.stop_requested()) return;
    const double now = steady_clock().now();
    awake_s_ = awake(now);
    looked_at_ = now;
    const std::string verdict = rule_.verdict(awake_s_);
    lock.unlock();  // the actions may take their time, and the loop must not wait for them
    if (!verdict.empty()) return actions_.on_hang(verdict);
    if (actions_.orphaned && actions_.orphaned()) return actions_.on_orphan();
    lock.lock();
  }
}

}  // namespace erg
