// How long one call takes, once the machine is warm.
#pragma once
#include <cstdint>
#include <functional>

#include "core/clock.hpp"

namespace erg {

struct CallTimes {
  double best_s = 0, median_s = 0;
  int64_t calls = 0;
};

// Calls for heat_s seconds, at least once, then measures every call for measure_s seconds, at least `fewest` times.
CallTimes time_calls(const std::function<void()>& call, Clock& clock, double heat_s, double measure_s, int64_t fewest = 3);

}  // namespace erg
