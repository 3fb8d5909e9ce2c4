// The metrics of DESIGN §6, as one table.
#include "store/metrics.hpp"

#include <algorithm>
#include <stdexcept>

namespace erg {

const std::vector<MetricKind>& metric_kinds() {
  static const std::vector<MetricKind> kinds = {
      {"images_per_s", "1/s", "higher", "images trained on / time of the whole window", true},
      {"tokens_per_s", "1/s", "higher", "tokens trained on / time of the whole window", true},
      {"step_time_s", "s", "lower", "median time of an optimizer step", true},
      {"step_time_p5_s", "s", "lower", "5th percentile of the step time", true},
      {"step_time_p95_s", "s", "lower", "95th percentile of the step time", true},
      {"outlier_steps", "1", "lower", "steps with |modified z| > 3.5, all kept", true},
      {"step_time_drift", "1", "", "change of the step time over the window by its trend / median", true},
      {"step_time_autocorrelation", "1", "", "of a step's time with the next one's", true},
      {"model_tflops_per_device", "TFLOP/s", "higher", "model FLOPs of the plan's convention / time / devices", true},
      {"mfu", "1", "higher", "model FLOP/s / declared dense peak", true},
      {"mfu_probe", "1", "higher", "model FLOP/s / measured GEMM peak", true},
      {"energy_j", "J", "lower", "energy of the window, all devices", true},
      {"mean_power_w", "W", "lower", "energy / time", true},
      {"energy_wh_per_device", "Wh", "lower", "energy of the window per device", true},
      {"images_per_wh", "1/Wh", "higher", "images trained on / energy", true},
      {"tokens_per_wh", "1/Wh", "higher", "tokens trained on / energy", true},
      {"device_utilization", "1", "", "busy share of the device: CPU time of this process / (time x threads)", false},
      {"device_memory_used_bytes", "B", "lower", "mean memory over the window: on a CPU this process's resident set", false},
      {"peak_memory_bytes", "B", "lower", "peak of the engine's arena", false},
      {"peak_rss_bytes", "B", "lower", "peak resident set of the process", false},
      {"predicted_memory_bytes", "B", "", "the plan's memory", false},
      {"predicted_step_time_s", "s", "", "the plan's step time", false},
      {"loss_first", "nats", "", "training loss of the very first step", false},
      {"loss_last", "nats", "lower", "training loss of the window's last step", false},
      {"loss_validation", "nats", "lower", "loss on data held back, after the window", false},
      {"top1_validation", "1", "higher", "share of held-back targets that have the largest logit", false},
      {"data_wait_s", "s", "lower", "time of the window spent waiting for batches", false},
      {"exposed_comm_s", "s", "lower", "time of the window spent waiting for communication", false},
  };
  return kinds;
}

namespace {

Metric of_kind(const std::string& name) {
  const auto& kinds = metric_kinds();
  const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const MetricKind& k) { return name == k.name; });
  if (kind == kinds.end()) throw std::logic_error("no metric is called " + name);
  Metric m;
  m.unit = kind->unit;
  m.better = kind->better;
  return m;
}

}  // namespace

Metric measured(const std::string& name, double value) {
  Metric m = of_kind(name);
  m.value = value;
  return m;
}

Metric unavailable(const std::string& name, const std::string& reason) {
  Metric m = of_kind(name);
  m.reason = reason;
  return m;
}

const Json* field(const Json& object, const std::string& dotted_key) {
  const Json* at = &object;
  for (size_t begin = 0; begin <= dotted_key.size();) {
    const size_t end = std::min(dotted_key.find('.', begin), dotted_key.size());
    const auto key = dotted_key.substr(begin, end - begin);
    if (!at->is_object() || !at->contains(key)) return nullptr;
    at = &at->at(key);
    begin = end + 1;
  }
  return at->is_null() ? nullptr : at;
}

std::string field_text(const Json& object, const std::string& dotted_key) {
  const Json* value = field(object, dotted_key);
  if (!value) return {};
  return value->is_string() ? value->get<std::string>() : value->dump();
}

}  // namespace erg
