// Two loops over the same call.
#include "probe/timing.hpp"

#include <algorithm>
#include <vector>

#include "core/stats.hpp"

namespace erg {

CallTimes time_calls(const std::function<void()>& call, Clock& clock, double heat_s, double measure_s, int64_t fewest) {
  const double warm = clock.now() + heat_s;
  do call();
  while (clock.now() < warm);
  std::vector<double> times;
  const double end = clock.now() + measure_s;
  while (int64_t(times.size()) < fewest || clock.now() < end) {
    const double begin = clock.now();
    call();
    times.push_back(clock.now() - begin);
  }
  return {*std::min_element(times.begin(), times.end()), median(times), int64_t(times.size())};
}

}  // namespace erg
