// The real clock: CLOCK_MONOTONIC for durations, CLOCK_REALTIME for dates.
#include "core/clock.hpp"

#include <fmt/chrono.h>

#include <chrono>
#include <cmath>
#include <ctime>
#include <thread>

namespace erg {
namespace {

double read_clock(clockid_t id) {
  timespec t{};
  clock_gettime(id, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

class SteadyClock final : public Clock {
 public:
  double now() const override { return read_clock(CLOCK_MONOTONIC); }
  double wall() const override { return read_clock(CLOCK_REALTIME); }
  void sleep(double seconds) override {
    if (seconds > 0) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  }
};

}  // namespace

Clock& steady_clock() {
  static SteadyClock clock;
  return clock;
}

std::string iso8601(double wall_seconds) {
  const std::time_t whole = std::time_t(std::floor(wall_seconds));
  std::tm utc{};
  gmtime_r(&whole, &utc);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", utc);
}

}  // namespace erg
