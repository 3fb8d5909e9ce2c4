// Reads every sensor of a set again and again in the background, so that no counter wraps unseen and powers can be integrated.
#pragma once
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "meter/energy.hpp"

namespace erg {

class Sampler {
 public:
  explicit Sampler(std::vector<std::unique_ptr<Meter>> meters);
  ~Sampler() { stop(); }
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // From now on a reading every interval_s, on a fixed schedule: a late reading does not make the next one late.
  void start(double interval_s);
  void stop();
  void sample();  // reads every sensor now; from any thread
  bool empty() const { return meters_.empty(); }
  std::vector<MeterTrace> traces() const;

 private:
  std::vector<std::unique_ptr<Meter>> meters_;
  mutable std::mutex mutex_;  // of traces_ and of reading
  std::vector<MeterTrace> traces_;
  std::condition_variable_any wake_;
  std::jthread thread_;
};

}  // namespace erg
