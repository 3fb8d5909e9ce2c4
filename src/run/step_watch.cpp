// Differences of the kernel's counters, step by step.
#include "run/step_watch.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

namespace erg {
namespace {

constexpr double shortest_interval_s = 0.1, share = 1.0 / 500;

rusage usage() {
  rusage u{};
  ::getrusage(RUSAGE_SELF, &u);
  return u;
}

}  // namespace

void StepWatch::begin() {
  steps_.clear();
  read_until_ = 0;
  last_ = sample_host(clock_, root_);
  next_ = clock_.now() + shortest_interval_s;
  const rusage u = usage();
  faults_ = u.ru_majflt;
  preemptions_ = u.ru_nivcsw;
}

void StepWatch::step() {
  const rusage u = usage();
  StepHost host;
  host.major_faults = u.ru_majflt - std::exchange(faults_, u.ru_majflt);
  host.preemptions = u.ru_nivcsw - std::exchange(preemptions_, u.ru_nivcsw);
  steps_.push_back(host);
  if (const double before = clock_.now(); before >= next_) {
    read_host();
    const double after = clock_.now();
    next_ = after + std::max(shortest_interval_s, (after - before) / share);
  }
}

void StepWatch::end() {
  if (read_until_ < steps_.size()) read_host();
}

void StepWatch::read_host() {
  const HostSample now = sample_host(clock_, root_);
  const double stolen = now.stolen_s && last_.stolen_s ? *now.stolen_s - *last_.stolen_s : 0;
  const int64_t throttled = now.throttle_events && last_.throttle_events ? *now.throttle_events - *last_.throttle_events : 0;
  for (; read_until_ < steps_.size(); ++read_until_) {
    steps_[read_until_].stolen_s = stolen;
    steps_[read_until_].throttle_events = throttled;
  }
  last_ = now;
}

}  // namespace erg
