// METHOD §1's statistics over a finished window.
#include "run/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/stats.hpp"
#include "store/metrics.hpp"

namespace erg {
namespace {

constexpr double outlier_z = 3.5;  // Iglewicz & Hoaglin 1993
constexpr double data_bound_share = 0.05;

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
  const std::vector<double> z = modified_z(w.step_times);
  add(metrics, "outlier_steps", double(std::count_if(z.begin(), z.end(), [](double v) { return v > outlier_z; })));

  const double flops = plan.flops_per_step * double(n) / w.measure_s / double(spec.devices);
  metrics["model_tflops_per_device"] =
      with_interval(measured("model_tflops_per_device", flops / 1e12), flops * slowest / 1e12, flops * fastest / 1e12, n);
  if (plan.peak_flops) {
    const double share = flops / *plan.peak_flops;
    metrics["mfu"] = with_interval(measured("mfu", share), share * slowest, share * fastest, n);
  } else {
    metrics["mfu"] = unavailable("mfu", plan.peak_source);
  }
}

void add_energy(Metrics& metrics, const Measurements& m) {
  const std::string reason = m.no_energy.empty() ? "no meter was read" : fmt::format("{}", fmt::join(m.no_energy, "; "));
  for (const std::string& name :
       {std::string("energy_j"), std::string("mean_power_w"), std::string("energy_wh_per_device"), m.sample_unit + "_per_wh"})
    metrics[name] = unavailable(name, reason);
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
          std::string("outlier_steps"), std::string("model_tflops_per_device"), std::string("mfu"), std::string("device_utilization"),
          std::string("data_wait_s"), std::string("loss_last")})
      metrics[name] = unavailable(name, nothing);
  }
  metrics["mfu_probe"] = unavailable("mfu_probe", "this version has no probe to measure the peak with");
  add_energy(metrics, m);
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

std::vector<Flag> window_flags(const Window& window) {
  const double wait = sum(window.data_waits);
  if (window.measure_s <= 0 || wait <= data_bound_share * window.measure_s) return {};
  return {{"data_bound", fmt::format("waiting for batches took {:.0f} % of the window", 100 * wait / window.measure_s)}};
}

}  // namespace erg
