// A run as MLPerf's events, so that MLCommons' tools can read it. Only what is known is said: a run of ours is no submission.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <ctime>
#include <optional>

#include "store/export.hpp"
#include "store/metrics.hpp"

namespace erg {
namespace {

// Milliseconds since 1970 of "2026-11-30T10:00:00Z"; nullopt for anything else.
std::optional<int64_t> milliseconds(const std::string& iso8601) {
  std::tm t{};
  if (std::sscanf(iso8601.c_str(), "%d-%d-%dT%d:%d:%dZ", &t.tm_year, &t.tm_mon, &t.tm_mday, &t.tm_hour, &t.tm_min, &t.tm_sec) != 6)
    return std::nullopt;
  t.tm_year -= 1900;
  t.tm_mon -= 1;
  return int64_t(::timegm(&t)) * 1000;
}

const Json* find(const Json& object, const std::string& dotted_key) {
  const Json* value = field(object, dotted_key);
  return value && *value != "unavailable" ? value : nullptr;
}

class Log {
 public:
  Log(const Record& r, std::string& text) : r_(r), text_(text), now_ms_(milliseconds(r.started).value_or(0)) {}

  void write() {
    submission();
    event("INTERVAL_START", "init_start");
    hyperparameters();
    wait("init_s");
    wait("check_s");
    event("INTERVAL_END", "init_stop");
    event("INTERVAL_START", "run_start");
    window();
    evaluation();
    event("INTERVAL_END", "run_stop", nullptr,
          {{"status", r_.status == Status::passed ? "success" : "aborted"}, {"ergometer_status", name_of(r_.status)}});
  }

 private:
  void submission() {
    const std::string preset = field_text(r_.spec, "workload.preset"), kind = field_text(r_.spec, "workload.kind");
    point("submission_benchmark", kind == "resnet50" ? "resnet" : preset.empty() ? kind : preset);
    point("submission_division", "open");
    point("submission_status", "research");
    if (const Json* org = find(r_.spec, "labels.submission_org")) point("submission_org", *org);
    const Json* label = find(r_.spec, "labels.submission_platform");
    const Json* device = find(r_.environment, "engine.device");
    if (label)
      point("submission_platform", *label);
    else if (device && device->is_string())
      point("submission_platform", fmt::format("{}x{}", field_text(r_.spec, "devices"), device->get<std::string>()));
  }

  void hyperparameters() {
    const bool gpt = field_text(r_.spec, "workload.kind") == "gpt";
    point("opt_name", gpt ? "adamw" : "sgd");
    // Keys of the spec and of the plan under MLPerf's names.
    static const std::pair<const char*, const char*> shared[] = {{"seed", "workload.seed"},
                                                                 {"global_batch_size", "workload.global_batch"},
                                                                 {"max_sequence_length", "workload.sequence"},
                                                                 {"opt_base_learning_rate", "workload.learning_rate"},
                                                                 {"opt_learning_rate_warmup_steps", "workload.warmup_steps"},
                                                                 {"opt_learning_rate_decay_steps", "workload.total_steps"},
                                                                 {"opt_gradient_clip_norm", "workload.clip"}};
    static const std::pair<const char*, const char*> adamw[] = {{"opt_adamw_beta_1", "workload.beta1"},
                                                                {"opt_adamw_beta_2", "workload.beta2"},
                                                                {"opt_adamw_epsilon", "workload.epsilon"},
                                                                {"opt_adamw_weight_decay", "workload.weight_decay"}};
    for (const auto& [key, place] : shared)
      if (const Json* value = find(r_.spec, place)) point(key, *value);
    if (gpt)
      for (const auto& [key, place] : adamw)
        if (const Json* value = find(r_.spec, place)) point(key, *value);
    if (const Json* decay = find(r_.spec, "workload.weight_decay"); decay && !gpt) point("opt_weight_decay", *decay);
    if (const Json* steps = find(r_.plan, "accumulation")) point("gradient_accumulation_steps", *steps);
  }

  // The block is the measured window; warm-up and settling lie between run_start and block_start.
  void window() {
    wait("warmup_s");
    wait("settle_s");
    const Json* steps = find(r_.phases, "measure_steps");
    if (!find(r_.phases, "measure_s")) return;
    Json about = Json::object();
    if (steps) about["step_count"] = *steps;
    event("INTERVAL_START", "block_start", nullptr, about);
    wait("measure_s");
    for (const char* rate : {"images_per_s", "tokens_per_s"})
      if (const auto m = r_.metrics.find(rate); m != r_.metrics.end() && m->second.value)
        event("POINT_IN_TIME", "tracked_stats", {{"throughput", *m->second.value}}, {{"unit", rate}});
    if (const auto m = r_.metrics.find("loss_last"); m != r_.metrics.end() && m->second.value)
      event("POINT_IN_TIME", "tracked_stats", {{"train_loss", *m->second.value}});
    event("INTERVAL_END", "block_stop", nullptr, about);
  }

  void evaluation() {
    const auto loss = r_.metrics.find("loss_validation"), top1 = r_.metrics.find("top1_validation");
    const bool has_loss = loss != r_.metrics.end() && loss->second.value, has_top1 = top1 != r_.metrics.end() && top1->second.value;
    if (!has_loss && !has_top1) return;
    event("INTERVAL_START", "eval_start");
    wait("validation_s");
    // MLPerf's LLM benchmarks log their validation loss under this key, its image benchmarks the accuracy.
    const bool gpt = field_text(r_.spec, "workload.kind") == "gpt";
    if (gpt ? has_loss : has_top1)
      event("POINT_IN_TIME", "eval_accuracy", gpt ? *loss->second.value : *top1->second.value,
            {{"metric", gpt ? "loss_validation" : "top1_validation"}});
    event("INTERVAL_END", "eval_stop");
  }

  void wait(const char* phase) {
    if (const Json* s = find(r_.phases, phase); s && s->is_number()) now_ms_ += std::llround(1000 * s->get<double>());
  }
  void point(const char* key, const Json& value) { event("POINT_IN_TIME", key, value); }
  void event(const char* type, const char* key, const Json& value = nullptr, const Json& more = Json::object()) {
    Json metadata = {{"file", "ergometer"}, {"lineno", 0}, {"run", r_.id}};
    metadata.update(more);
    const Json line = {{"namespace", ""}, {"time_ms", now_ms_}, {"event_type", type},
                       {"key", key},      {"value", value},     {"metadata", metadata}};
    text_ += ":::MLLOG " + line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }

  const Record& r_;
  std::string& text_;
  int64_t now_ms_;
};

}  // namespace

std::string to_mllog(const std::vector<Record>& records) {
  std::string text;
  for (const Record& r : records)
    if (r.status != Status::skipped && r.status != Status::running) Log(r, text).write();
  return text;
}

}  // namespace erg
