// Tells a hanging run from a slow one by its signs of life, and a thread that acts when there are none. The rule is pure: the run
// itself and the sweep above it, which sees the same signs through a pipe, judge alike.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace erg {

// METHOD §6: no step for 10 times the median step, and at least min_s. Where no steps are reported, or none has been yet, the limit is
// 30 times min_s; validation, which takes steps but does not report them, may take 10 times as long as its steps would in training.
struct HangLimits {
  double min_s = 60;
  double whole_s = 0;  // from the first beat on; 0: none
  int64_t validation_steps = 0;
  double patience = 1;  // times all this: who watches the watchdog waits longer
};

class HangRule {
 public:
  explicit HangRule(HangLimits limits) : limits_(limits) {}
  void beat(std::string_view phase, double now);  // a sign of life: a phase began, or a step of it ended
  double limit_s() const;                         // how long it may now be silent
  std::string verdict(double now) const;          // "no step for 61 s in phase measure, ...", or empty: it lives

 private:
  double median_step_s() const;  // 0: not known yet

  HangLimits limits_;
  std::string phase_ = "start";
  double begin_ = -1, last_ = 0;
  std::deque<double> steps_;  // the last intervals between steps
};

// Calls on_hang(reason) once, from its own thread, when the rule says so; and on_orphan once orphaned() is true. Time in which the
// process itself was stopped (Ctrl-Z) does not count.
class Watchdog {
 public:
  struct Actions {
    std::function<void(const std::string& reason)> on_hang;
    std::function<bool()> orphaned;  // may be empty
    std::function<void()> on_orphan;
  };
  Watchdog(HangRule rule, Actions actions, double interval_s = 0.5);
  ~Watchdog() { stop(); }
  void beat(std::string_view phase);
  void stop();  // when it returns, no action runs any more and none will

 private:
  void watch(const std::stop_token& stop);
  double awake(double now) const;

  const double interval_s_;
  Actions actions_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  HangRule rule_;                       // guarded by mutex_, as are these
  double awake_s_ = 0, looked_at_ = 0;  // seconds we were running, up to the moment we last looked
  std::jthread thread_;                 // last: it uses all the others
};

}  // namespace erg
