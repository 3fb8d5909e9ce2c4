// METHOD §1's statistics over a finished window.
#include "run/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/inference.hpp"
#include "core/stats.hpp"
#include "store/metrics.hpp"

namespace erg {
namespace {

constexpr double data_bound_share = 0.05, outlier_share = 0.05;
constexpr double drift_p = 0.01, drift_change = 0.01;
constexpr size_t listed_outliers = 10;

double sum(const std::vector<double>& x) { return std::accumulate(x.begin(), x.end(), 0.0); }

// One or two steps say nothing of their spread.
Metric with_interval(Metric m, double low, double high, int64_t n) {
  if (n >= 3) m.ci95 = {low, high};
  m.n = n;
  return m;
}

using Metrics = std::map<std::string, Metric>;

void add(Metrics& metrics, const std::string& name, std::optional<double> value, const std::string& reason = {}) {
  if (value && !std::isfinite(*value))
    metrics[name] = unavailable(name, "not a finite number");
  else
    metrics[name] = value ? measured(name, *value) : unavailable(name, reason);
}

// How much the step time changed over the window, by its trend, relative to the median.
struct Drift {
  double change;
  Interval ci95;
  double p;
  bool significant() const { return p < drift_p && std::abs(change) > drift_change; }
};

Drift drift_of(const std::vector<double>& times) {
  const Trend t = trend_of(times);
  const double scale = double(times.size() - 1) / median(times);
  return {t.slope * scale, {t.slope95.low * scale, t.slope95.high * scale}, t.p};
}

// {"data_wait": 2, "unknown": 1}, the most frequent first.
std::vector<std::pair<std::string, int>> causes(const std::vector<Outlier>& outliers) {
  std::map<std::string, int> counts;
  for (const Outlier& o : outliers) ++counts[o.cause];
  std::vector<std::pair<std::string, int>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return sorted;
}

// Throughput = samples / time of the whole window. Its interval is that of the mean step time, whose inverse it is.
void add_speed(Metrics& metrics, const Spec& spec, const Plan& plan, const Measurements& m) {
  const Window& w = m.window;
  const auto n = int64_t(w.step_times.size());
  const double per_s = double(w.samples) / w.measure_s, mean_step = mean(w.step_times);
  const Interval step = mean_ci95(w.step_times), middle = median_ci95(w.step_times);
  const double fastest = mean_step / step.low, slowest = mean_step / step.high;

  const std::string rate = m.sample_unit + "_per_s";
  metrics[rate] = with_interval(measured(rate, per_s), per_s * slowest, per_s * fastest, n);
  metrics["step_time_s"] = with_interval(measured("step_time_s", median(w.step_times)), middle.low, middle.high, n);
  add(metrics, "step_time_p5_s", quantile(w.step_times, 0.05));
  add(metrics, "step_time_p95_s", quantile(w.step_times, 0.95));
  add(metrics, "outlier_steps", double(find_outliers(w.step_times, w.data_waits, m.step_host).size()));
  const Drift drift = drift_of(w.step_times);
  if (std::isfinite(drift.change))
    metrics["step_time_drift"] = with_interval(measured("step_time_drift", drift.change), drift.ci95.low, drift.ci95.high, n);
  else
    metrics["step_time_drift"] = unavailable("step_time_drift", "fewer than 10 steps");
  const double r = autocorrelation_lag1(w.step_times);
  add(metrics, "step_time_autocorrelation", std::isnan(r) ? std::nullopt : std::optional(r), "all steps took the same time");

  const double flops = plan.flops_per_step * double(n) / w.measure_s / double(spec.devices);
  metrics["model_tflops_per_device"] =
      with_interval(measured("model_tflops_per_device", flops / 1e12), flops * slowest / 1e12, flops * fastest / 1e12, n);
  if (plan.peak_flops) {
    const double share = flops / *plan.peak_flops;
    metrics["mfu"] = with_interval(measured("mfu", share), share * slowest, share * fastest, n);
  } else {
    metrics["mfu"] = unavailable("mfu", plan.peak_source);
  }
  if (m.probe.flops) {
    const double share = flops / *m.probe.flops;
    metrics["mfu_probe"] = with_interval(measured("mfu_probe", share), share * slowest, share * fastest, n);
  } else {
    metrics["mfu_probe"] = unavailable("mfu_probe", m.probe.reason.empty() ? "no probe was looked for" : m.probe.reason);
  }
}

// Gross energy of the window. What the sensors measure is the whole machine's, so it is shared by all devices.
void add_energy(Metrics& metrics, const Spec& spec, const Measurements& m) {
  const std::string per_wh = m.sample_unit + "_per_wh";
  if (!m.energy.total_j || m.window.measure_s <= 0) {
    const std::string reason = m.energy.reason.empty() ? "no meter was read" : m.energy.reason;
    for (const std::string& name : {std::string("energy_j"), std::string("mean_power_w"), std::string("energy_wh_per_device"), per_wh})
      metrics[name] = unavailable(name, reason);
    return;
  }
  const double joules = *m.energy.total_j, wh = joules / 3600;
  add(metrics, "energy_j", joules);
  add(metrics, "mean_power_w", joules / m.window.measure_s);
  add(metrics, "energy_wh_per_device", wh / double(spec.devices));
  add(metrics, per_wh, double(m.window.samples) / wh);
}

}  // namespace

std::map<std::string, Metric> run_metrics(const Spec& spec, const Plan& plan, const Measurements& m) {
  Metrics metrics;
  const Window& w = m.window;
  const std::string nothing = "no step was measured";
  if (!w.step_times.empty() && w.measure_s > 0) {
    add_speed(metrics, spec, plan, m);
    const double cores = (m.end.own_cpu_s - m.begin.own_cpu_s) / w.measure_s;
    add(metrics, "device_utilization", cores / double(m.threads));
    add(metrics, "data_wait_s", sum(w.data_waits));
    add(metrics, "loss_last", w.losses.back());
  } else {
    for (const std::string& name :
         {m.sample_unit + "_per_s", std::string("step_time_s"), std::string("step_time_p5_s"), std::string("step_time_p95_s"),
          std::string("outlier_steps"), std::string("step_time_drift"), std::string("step_time_autocorrelation"),
          std::string("model_tflops_per_device"), std::string("mfu"), std::string("mfu_probe"), std::string("device_utilization"),
          std::string("data_wait_s"), std::string("loss_last")})
      metrics[name] = unavailable(name, nothing);
  }
  add_energy(metrics, spec, m);
  add(metrics, "device_memory_used_bytes", m.mean_resident_bytes > 0 ? std::optional(m.mean_resident_bytes) : std::nullopt, nothing);
  add(metrics, "peak_memory_bytes", double(m.peak_arena_bytes));
  add(metrics, "peak_rss_bytes", m.peak_resident_bytes ? std::optional(double(*m.peak_resident_bytes)) : std::nullopt,
      "/proc/self/status has no VmHWM");
  add(metrics, "predicted_memory_bytes", plan.memory.total_bytes());
  metrics["predicted_step_time_s"] = unavailable("predicted_step_time_s", "this version's planner predicts memory, not time");
  add(metrics, "loss_first", w.all_losses.empty() ? std::nullopt : std::optional(w.loss_first), nothing);
  add(metrics, "loss_validation", m.validation ? std::optional(m.validation->loss) : std::nullopt, m.no_validation);
  add(metrics, "top1_validation", m.validation ? std::optional(m.validation->top1) : std::nullopt, m.no_validation);
  metrics["exposed_comm_s"] = unavailable("exposed_comm_s", "one device: nothing is communicated");
  return metrics;
}

void withhold_speed(std::map<std::string, Metric>& metrics, const std::string& reason) {
  for (const MetricKind& kind : metric_kinds())
    if (const auto m = metrics.find(kind.name); kind.speed && m != metrics.end() && m->second.value)
      m->second = unavailable(kind.name, "withheld: " + reason);
}

std::vector<Flag> probe_flags(const std::map<std::string, Metric>& metrics) {
  constexpr double possible = 1.05;
  const auto m = metrics.find("mfu_probe");
  if (m == metrics.end() || !m->second.value || *m->second.value <= possible) return {};
  return {{"probe_exceeded", fmt::format("the run is {:.2f} times as fast as the measured peak; measure it anew: ergometer probe --again",
                                         *m->second.value)}};
}

Json window_statistics(const Measurements& m) {
  const Window& w = m.window;
  if (w.step_times.empty()) return nullptr;
  std::vector<Outlier> outliers = find_outliers(w.step_times, w.data_waits, m.step_host);
  Json counts = Json::object(), largest = Json::array();
  for (const auto& [cause, count] : causes(outliers)) counts[cause] = count;
  const size_t total = outliers.size();
  std::stable_sort(outliers.begin(), outliers.end(), [](const Outlier& a, const Outlier& b) { return a.ratio > b.ratio; });
  outliers.resize(std::min(total, listed_outliers));
  for (const Outlier& o : outliers)
    largest.push_back({{"step", o.step}, {"ratio", o.ratio}, {"z", std::isfinite(o.z) ? Json(o.z) : Json(nullptr)}, {"cause", o.cause}});
  const Drift drift = drift_of(w.step_times);
  const auto number = [](double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); };
  int64_t preemptions = 0;
  for (const StepHost& h : m.step_host) preemptions += h.preemptions;
  return {{"outliers", {{"steps", total}, {"threshold_z", outlier_z}, {"causes", counts}, {"largest", largest}}},
          {"drift", {{"change", number(drift.change)}, {"p", number(drift.p)}, {"significant", drift.significant()}}},
          {"autocorrelation_lag1", number(autocorrelation_lag1(w.step_times))},
          {"major_faults", m.end.major_faults - m.begin.major_faults},
          {"preemptions", preemptions}};
}

std::vector<Flag> window_flags(const Measurements& m) {
  const Window& w = m.window;
  std::vector<Flag> flags;
  if (w.step_times.empty() || w.measure_s <= 0) return flags;
  if (const double wait = sum(w.data_waits); wait > data_bound_share * w.measure_s)
    flags.push_back({"data_bound", fmt::format("waiting for batches took {:.0f} % of the window", 100 * wait / w.measure_s)});
  if (const Drift d = drift_of(w.step_times); d.significant())
    flags.push_back({"drift", fmt::format("the step time changes by {:+.1f} % over the window (95 %: {:+.1f} to {:+.1f} %, p = {:.2g})",
                                          100 * d.change, 100 * d.ci95.low, 100 * d.ci95.high, d.p)});
  const std::vector<Outlier> outliers = find_outliers(w.step_times, w.data_waits, m.step_host);
  if (double(outliers.size()) > outlier_share * double(w.step_times.size())) {
    std::string text;
    for (const auto& [cause, count] : causes(outliers)) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, cause);
    flags.push_back({"outliers", fmt::format("{} of {} steps: {}", outliers.size(), w.step_times.size(), text)});
  }
  return flags;
}

}  // namespace erg
