// Hand-made records for the tests of store and report, and a folder that is removed again.
#pragma once
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "store/metrics.hpp"
#include "store/record.hpp"

namespace erg::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "ergometer-test-XXXXXX").string();
    if (!::mkdtemp(name.data())) std::abort();
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline Record gpt_record(const std::string& id, int batch, double tokens_per_s) {
  Record r;
  r.id = id;
  r.status = Status::passed;
  r.started = "2026-11-30T10:00:00Z";
  r.spec = {{"name", "quick"},
            {"device", "cpu"},
            {"devices", 1},
            {"repeat_index", 0},
            {"workload", {{"preset", "gpt-117m"}, {"kind", "gpt"}, {"precision", "auto"}, {"global_batch", batch}, {"sequence", 256}}}};
  r.spec_hash = "0123456789abcdef";
  r.plan = {{"precision", "bf16"}, {"micro_batch", batch}, {"flops_convention", "causal"}, {"parameters", 124439808}};
  r.environment = {{"engine", {{"name", "cpu"}, {"device", "AMD EPYC 9R14"}, {"library", "oneDNN 3.2.0"}, {"threads", 2}}}};
  const double step = 256.0 * batch / tokens_per_s;
  r.metrics["tokens_per_s"] = measured("tokens_per_s", tokens_per_s);
  r.metrics["tokens_per_s"].ci95 = {tokens_per_s * 0.99, tokens_per_s * 1.01};
  r.metrics["tokens_per_s"].n = 20;
  r.metrics["step_time_s"] = measured("step_time_s", step);
  r.metrics["step_time_p5_s"] = measured("step_time_p5_s", step * 0.98);
  r.metrics["step_time_p95_s"] = measured("step_time_p95_s", step * 1.05);
  r.metrics["model_tflops_per_device"] = measured("model_tflops_per_device", tokens_per_s * 8e8 / 1e12);
  r.metrics["mfu"] = unavailable("mfu", "no file in devices/ matches \"AMD EPYC 9R14\"");
  r.metrics["energy_j"] = unavailable("energy_j", "rapl: /sys/class/powercap/intel-rapl is not there");
  r.metrics["peak_memory_bytes"] = measured("peak_memory_bytes", 2.1e9 + 1e8 * batch);
  r.metrics["predicted_memory_bytes"] = measured("predicted_memory_bytes", 2.0e9 + 1e8 * batch);
  r.metrics["loss_first"] = measured("loss_first", 10.98);
  r.metrics["loss_last"] = measured("loss_last", 7.1234);
  r.metrics["loss_validation"] = measured("loss_validation", 7.4);
  r.energy = {{"domains", Json::array()}, {"not_included", {"rapl: /sys/class/powercap/intel-rapl is not there"}}};
  r.phases = {{"init_s", 1.2}, {"check_s", 0.8}, {"warmup_s", 2.5}, {"settle_s", 4.0}, {"measure_s", 10.4}, {"stopped_by", "precision"}};
  r.statistics = {
      {"outliers", {{"steps", 2}, {"causes", {{"data_wait", 1}, {"unknown", 1}}}, {"largest", {{{"step", 7}, {"ratio", 1.83}}}}}}};
  r.check = {{"verdict", "passed"}, {"losses", {10.9, 10.8, 10.7}}, {"detail", ""}};
  r.step_times = {step, step, step};
  r.losses = {7.3, 7.2, 7.1234};
  r.repro = "ergometer run gpt-117m --set workload.global_batch=" + std::to_string(batch);
  r.process = {{"pid", 1}, {"pid_started", 1}, {"host", "elsewhere"}, {"boot_id", "x"}};
  return r;
}

}  // namespace erg::test
