// The rules that name an outlier's cause.
#include "run/outliers.hpp"

#include <algorithm>

#include "core/stats.hpp"

namespace erg {
namespace {

template <class Of>
std::vector<double> column(std::span<const StepHost> host, const Of& of) {
  std::vector<double> values(host.size());
  std::transform(host.begin(), host.end(), values.begin(), [&](const StepHost& h) { return double(of(h)); });
  return values;
}

}  // namespace

std::vector<Outlier> find_outliers(std::span<const double> times, std::span<const double> waits, std::span<const StepHost> host) {
  const std::vector<double> z = modified_z(times);
  const double usual = median(times), usual_wait = median(waits);
  const std::vector<double> preemptions = column(host, [](const StepHost& h) { return h.preemptions; });
  const std::vector<double> preemption_z = modified_z(preemptions);
  const double usual_faults = median(column(host, [](const StepHost&h) { return h.major_faults; })),
               usual_preemptions = median(preemptions);

  const auto cause = [&](size_t i) {
    const double excess = times[i] - usual;
    if (excess <= 0) return "fast";
    if (i < waits.size() && waits[i] - usual_wait >= excess / 2) return "data_wait";
    if (i >= host.size()) return "unknown";
    if (host[i].throttle_events > 0) return "throttling";
    if (host[i].stolen_s >= excess / 2) return "cpu_steal";
    if (double(host[i].major_faults) > usual_faults) return "page_faults";
    if (preemptions[i] > usual_preemptions && preemption_z[i] > outlier_z) return "context_switches";
    return "unknown";
  };
  std::vector<Outlier> outliers;
  for (size_t i = 0; i < times.size(); ++i)
    if (z[i] > outlier_z) outliers.push_back({i, z[i], times[i] / usual, cause(i)});
  return outliers;
}

}  // namespace erg
