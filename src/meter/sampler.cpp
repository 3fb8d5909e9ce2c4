// One thread that sleeps until its next moment. The lock is held for a few file reads, and is what a reading at the window's edge may wait
// for.
#include "meter/sampler.hpp"

#include <chrono>

namespace erg {

Sampler::Sampler(std::vector<std::unique_ptr<Meter>> meters) : meters_(std::move(meters)) {
  for (const auto& m : meters_) traces_.push_back({m->info(), {}, 0});
}

void Sampler::start(double interval_s) {
  if (meters_.empty() || thread_.joinable()) return;
  thread_ = std::jthread([this, interval_s](const std::stop_token& stop) {
    const auto period = std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(interval_s));
    auto next = std::chrono::steady_clock::now();
    while (!stop.stop_requested()) {
      sample();
      // Missed moments are left out, not made up for in a burst.
      const auto now = std::chrono::steady_clock::now();
      do next += period;
      while (next <= now);
      std::unique_lock lock(mutex_);
      wake_.wait_until(lock, stop, next, [] { return false; });
    }
  });
}

void Sampler::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  thread_ = {};
}

void Sampler::sample() {
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < meters_.size(); ++i) {
    const auto reading = meters_[i]->read();
    MeterTrace& trace = traces_[i];
    if (!reading)
      ++trace.missing;
    else if (trace.readings.empty() || reading->time_s > trace.readings.back().time_s)
      trace.readings.push_back(*reading);
  }
}

std::vector<MeterTrace> Sampler::traces() const {
  const std::lock_guard lock(mutex_);
  return traces_;
}

}  // namespace erg
