// Metrics from a window whose numbers are known.
#include "run/results.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "store/metrics.hpp"

namespace erg {
namespace {

struct Known {
  Spec spec;
  Plan plan;
  Measurements m;
  Known() {
    plan.flops_per_step = 4e9;
    plan.memory.state_bytes = 1e9;
    plan.memory.activation_bytes = 5e8;
    plan.peak_source = "nobody knows";
    m.sample_unit = "images";
    m.threads = 2;
    m.window.step_times.assign(20, 0.5);
    m.window.losses.assign(20, 3.0);
    m.window.losses.back() = 2.5;
    m.window.data_waits.assign(20, 0.01);
    m.window.all_losses = {7.0, 3.0, 2.5};
    m.window.loss_first = 7.0;
    m.window.measure_s = 10;
    m.window.samples = 160;
    m.begin.own_cpu_s = 1;
    m.end.own_cpu_s = 16;
    m.mean_resident_bytes = 3e9;
    m.peak_arena_bytes = 1600000000;
    m.peak_resident_bytes = 4000000000;
    m.validation = Validation{4.5, 0.25, 16};
    m.energy.reason = "rapl: not there";
  }
};

TEST(Results, AreTheWindowsArithmetic) {
  const Known k;
  const auto metrics = run_metrics(k.spec, k.plan, k.m);
  const auto value = [&](const char* name) { return metrics.at(name).value.value_or(-1); };
  EXPECT_DOUBLE_EQ(value("images_per_s"), 16);
  EXPECT_DOUBLE_EQ(value("step_time_s"), 0.5);
  EXPECT_DOUBLE_EQ(value("step_time_p95_s"), 0.5);
  EXPECT_DOUBLE_EQ(value("model_tflops_per_device"), 4e9 * 20 / 10 / 1e12);
  EXPECT_DOUBLE_EQ(value("device_utilization"), 0.75);
  EXPECT_DOUBLE_EQ(value("data_wait_s"), 0.2);
  EXPECT_DOUBLE_EQ(value("loss_first"), 7);
  EXPECT_DOUBLE_EQ(value("loss_last"), 2.5);
  EXPECT_DOUBLE_EQ(value("loss_validation"), 4.5);
  EXPECT_DOUBLE_EQ(value("top1_validation"), 0.25);
  EXPECT_DOUBLE_EQ(value("peak_memory_bytes"), 1.6e9);
  EXPECT_DOUBLE_EQ(value("predicted_memory_bytes"), 1.5e9);
  EXPECT_DOUBLE_EQ(value("outlier_steps"), 0);
  EXPECT_EQ(metrics.at("images_per_s").n, 20);
}

// 7200 J = 2 Wh in 10 s: 720 W, and 160 images / 2 Wh.
TEST(Results, EnergyIsThatOfTheWindow) {
  Known k;
  k.m.energy.total_j = 7200;
  k.m.energy.reason.clear();
  const auto metrics = run_metrics(k.spec, k.plan, k.m);
  EXPECT_DOUBLE_EQ(*metrics.at("energy_j").value, 7200);
  EXPECT_DOUBLE_EQ(*metrics.at("mean_power_w").value, 720);
  EXPECT_DOUBLE_EQ(*metrics.at("energy_wh_per_device").value, 2);
  EXPECT_DOUBLE_EQ(*metrics.at("images_per_wh").value, 80);
}

TEST(Results, ThroughputIsOfTheWholeWindowAndItsIntervalHoldsIt) {
  Known k;
  for (size_t i = 0; i < 20; i += 5) k.m.window.step_times[i] = 1.0;  // the mean is 0.6, the median 0.5
  k.m.window.measure_s = 12;
  const auto metrics = run_metrics(k.spec, k.plan, k.m);
  const Metric rate = metrics.at("images_per_s");
  EXPECT_NEAR(*rate.value, 160.0 / 12, 1e-12);
  EXPECT_LT(rate.ci95->first, *rate.value);
  EXPECT_GT(rate.ci95->second, *rate.value);
  EXPECT_DOUBLE_EQ(*metrics.at("step_time_s").value, 0.5);
}

TEST(Results, TwoStepsHaveNoInterval) {
  Known k;
  k.m.window.step_times.resize(2);
  const auto metrics = run_metrics(k.spec, k.plan, k.m);
  EXPECT_TRUE(metrics.at("images_per_s").value);
  EXPECT_FALSE(metrics.at("images_per_s").ci95);
  EXPECT_FALSE(metrics.at("step_time_s").ci95);
}

TEST(Results, OutliersAreCountedAndKept) {
  Known k;
  for (size_t i = 0; i < 20; ++i) k.m.window.step_times[i] = 0.5 + 0.001 * double(i % 5);
  k.m.window.step_times[7] = 5;
  const auto metrics = run_metrics(k.spec, k.plan, k.m);
  EXPECT_DOUBLE_EQ(*metrics.at("outlier_steps").value, 1);
  EXPECT_EQ(metrics.at("step_time_s").n, 20);
}

TEST(Results, MfuNeedsAPeak) {
  Known k;
  EXPECT_EQ(run_metrics(k.spec, k.plan, k.m).at("mfu").reason, "nobody knows");
  k.plan.peak_flops = 32e9;
  EXPECT_DOUBLE_EQ(*run_metrics(k.spec, k.plan, k.m).at("mfu").value, 0.25);
}

TEST(Results, EverythingUnavailableHasAReason) {
  Known k;
  k.m.window = {};
  k.m.validation.reset();
  k.m.no_validation = "not asked for";
  for (const auto& [name, metric] : run_metrics(k.spec, k.plan, k.m)) EXPECT_TRUE(metric.value || !metric.reason.empty()) << name;
  EXPECT_EQ(run_metrics(k.spec, k.plan, k.m).at("images_per_wh").reason, "rapl: not there");
}

TEST(Results, ALossThatIsNotANumberIsUnavailable) {
  Known k;
  k.m.window.losses.back() = std::nan("");
  const Metric loss = run_metrics(k.spec, k.plan, k.m).at("loss_last");
  EXPECT_FALSE(loss.value);
  EXPECT_EQ(loss.reason, "not a finite number");
}

TEST(Results, EveryMetricOfTheDesignIsThere) {
  const Known k;
  const auto metrics = run_metrics(k.spec, k.plan, k.m);
  for (const MetricKind& kind : metric_kinds())
    EXPECT_NE(bool(metrics.count(kind.name)), std::string(kind.name).starts_with("tokens")) << kind.name;
}

TEST(Results, AnInvalidRunLosesItsSpeedOnly) {
  const Known k;
  auto metrics = run_metrics(k.spec, k.plan, k.m);
  withhold_speed(metrics, "the loss rises");
  for (const char* name : {"images_per_s", "step_time_s", "model_tflops_per_device"}) {
    EXPECT_FALSE(metrics.at(name).value) << name;
    EXPECT_EQ(metrics.at(name).reason, "withheld: the loss rises");
    EXPECT_FALSE(metrics.at(name).ci95);
  }
  EXPECT_EQ(metrics.at("mfu").reason, "nobody knows");
  EXPECT_TRUE(metrics.at("loss_last").value);
  EXPECT_TRUE(metrics.at("peak_memory_bytes").value);
}

TEST(Results, WaitingForDataIsFlagged) {
  Known k;
  EXPECT_TRUE(window_flags(k.m).empty());
  k.m.window.data_waits.assign(20, 0.03);
  EXPECT_EQ(window_flags(k.m).at(0).code, "data_bound");
  EXPECT_TRUE(window_flags({}).empty());
}

// 0.500 s to 0.519 s in equal steps: Theil and Sen's slope is 1 ms a step, the median 0.5095 s.
TEST(Results, ADriftIsMeasuredAndFlagged) {
  Known k;
  for (size_t i = 0; i < 20; ++i) k.m.window.step_times[i] = 0.5 + 0.001 * double(i);
  const Metric drift = run_metrics(k.spec, k.plan, k.m).at("step_time_drift");
  EXPECT_NEAR(*drift.value, 0.019 / 0.5095, 1e-9);
  EXPECT_NEAR(drift.ci95->first, 0.019 / 0.5095, 1e-9);
  const auto flags = window_flags(k.m);
  ASSERT_EQ(flags.size(), 1u);
  EXPECT_EQ(flags[0].code, "drift");
  EXPECT_THAT(flags[0].detail, testing::HasSubstr("+3.7 % over the window"));
  EXPECT_EQ(window_statistics(k.m)["drift"]["significant"], true);

  for (double& t : k.m.window.step_times) t = 0.5 + (t - 0.5) / 10;  // as significant, but 0.4 %
  EXPECT_TRUE(window_flags(k.m).empty());
  k.m.window.step_times.resize(9);
  EXPECT_EQ(run_metrics(k.spec, k.plan, k.m).at("step_time_drift").reason, "fewer than 10 steps");
}

TEST(Results, OutliersAreExplainedAndManyAreFlagged) {
  Known k;
  for (size_t i = 0; i < 20; ++i) k.m.window.step_times[i] = 0.5 + 0.001 * double(i % 5);
  k.m.window.step_times[7] = 0.8;
  k.m.step_host.assign(20, {});
  EXPECT_TRUE(window_flags(k.m).empty());  // one of 20 is no more than 5 %
  k.m.window.step_times[9] = 0.9;
  k.m.step_host[9].preemptions = 100;
  k.m.step_host[9].major_faults = 0;
  k.m.end.major_faults = 12;
  const auto flags = window_flags(k.m);
  ASSERT_EQ(flags.size(), 1u);
  EXPECT_EQ(flags[0].code, "outliers");
  EXPECT_EQ(flags[0].detail, "2 of 20 steps: 1 context_switches, 1 unknown");
  const Json s = window_statistics(k.m);
  EXPECT_EQ(s["outliers"]["steps"], 2);
  EXPECT_EQ(s["outliers"]["causes"], Json({{"context_switches", 1}, {"unknown", 1}}));
  EXPECT_EQ(s["outliers"]["largest"][0]["step"], 9);
  EXPECT_EQ(s["major_faults"], 12);
  EXPECT_EQ(s["preemptions"], 100);
  EXPECT_TRUE(window_statistics({}).is_null());
}

TEST(Results, CorrelationNeedsSteps) {
  Known k;
  EXPECT_EQ(run_metrics(k.spec, k.plan, k.m).at("step_time_autocorrelation").reason, "all steps took the same time");
  for (size_t i = 0; i < 20; ++i) k.m.window.step_times[i] = i % 2 ? 0.6 : 0.5;
  EXPECT_NEAR(*run_metrics(k.spec, k.plan, k.m).at("step_time_autocorrelation").value, -0.95, 1e-9);  // -(n - 1) / n
}

}  // namespace
}  // namespace erg
