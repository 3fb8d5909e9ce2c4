// Micro-batches, memory and FLOPs of a plan, against METHOD's closed forms.
#include "plan/plan.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace erg {
namespace {

Spec gpt(int64_t global_batch, int64_t micro_batch = 0) {
  Spec s;
  s.workload.global_batch = global_batch;
  s.workload.micro_batch = micro_batch;
  s.workload.precision = Precision::bf16;
  s.workload.gradients = DType::bf16;
  return s;
}

TEST(Plan, MicroBatchDefaultsToTheWholeBatchOfAReplica) {
  const Plan p = make_plan(gpt(6), true);
  EXPECT_EQ(p.micro_batch, 6);
  EXPECT_EQ(p.accumulation, 1);
  EXPECT_EQ(p.samples_per_step, 6 * 1024);
}

TEST(Plan, AccumulationTimesMicroBatchIsTheGlobalBatch) {
  const Plan p = make_plan(gpt(6, 2), true);
  EXPECT_EQ(p.micro_batch * p.accumulation, 6);
  EXPECT_EQ(p.network.micro_batch, 2);
}

TEST(Plan, NothingIsTruncated) { EXPECT_THROW(make_plan(gpt(6, 4), true), Error); }

TEST(Plan, AutomaticPrecisionFollowsTheHardware) {
  Spec s = gpt(1);
  s.workload.precision = Precision::automatic;
  EXPECT_EQ(make_plan(s, true).dtype, DType::bf16);
  EXPECT_EQ(make_plan(s, false).dtype, DType::f32);
}

// METHOD §4: bf16 weights and gradients with fp32 Adam state take 16 bytes a parameter, with fp32 gradients 18, all fp32 16.
TEST(Plan, GptStateBytesPerParameter) {
  Spec s = gpt(1);
  const double n = double(make_plan(s, true).network.parameters);
  EXPECT_DOUBLE_EQ(make_plan(s, true).memory.state_bytes, 16 * n);
  s.workload.gradients = DType::f32;
  EXPECT_DOUBLE_EQ(make_plan(s, true).memory.state_bytes, 18 * n);
  s.workload.precision = Precision::fp32;
  EXPECT_DOUBLE_EQ(make_plan(s, true).memory.state_bytes, 16 * n);
}

TEST(Plan, ActivationsGrowWithTheMicroBatchAndNotWithAccumulation) {
  EXPECT_DOUBLE_EQ(make_plan(gpt(4), true).memory.activation_bytes, 4 * make_plan(gpt(1), true).memory.activation_bytes);
  EXPECT_DOUBLE_EQ(make_plan(gpt(4, 1), true).memory.activation_bytes, make_plan(gpt(1), true).memory.activation_bytes);
}

TEST(Plan, ResNetFlopsPerStep) {
  Spec s;
  s.workload.kind = WorkloadKind::resnet50;
  s.workload.global_batch = 32;
  EXPECT_NEAR(make_plan(s, true).flops_per_step, 32 * 24.299e9, 32 * 0.001e9);
}

}  // namespace
}  // namespace erg
