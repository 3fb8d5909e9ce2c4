// What a training step must do whatever the numbers: accumulate, clip, learn, validate, give memory back.
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.hpp"
#include "support.hpp"

namespace erg::test {
namespace {

class Training : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Engines, Training, ::testing::Values("ref", "cpu"), [](const auto& info) { return info.param; });

// The mean over the global batch does not depend on how it is cut. (ResNet's does: batch norm sees micro-batches.)
TEST_P(Training, MicroBatchesAddUpToTheWholeBatch) {
  ERG_OPEN_ENGINE(engine, GetParam(), DType::f32);
  Spec whole = tiny_gpt(), cut = whole;
  whole.workload.micro_batch = 4;
  cut.workload.micro_batch = 1;
  const Trained a = train(whole, *engine, 3, fixed_batches(whole.workload)), b = train(cut, *engine, 3, fixed_batches(cut.workload));
  for (size_t step = 0; step < 3; ++step) EXPECT_NEAR(a.losses[step] / b.losses[step], 1, 1e-5) << "step " << step + 1;
  for (const auto& [name, norm] : a.first_norms) EXPECT_NEAR(norm / b.first_norms.at(name), 1, 1e-4) << name;
}

// Keeps what a step's spans say, without their times.
struct WorkTrace final : Trace {
  struct Open {
    Work work;
    bool divided = false;
  };
  std::vector<Open> open;
  double flops = 0;
  int64_t ops = 0;
  void begin(std::string_view site, const Work& work) override {
    if (!open.empty()) open.back().divided = true;
    ops += !site.empty();
    open.push_back({work});
  }
  void end() override {
    if (!open.back().divided) flops += open.back().work.flops;
    open.pop_back();
  }
};

// What a profile counts in an optimizer step is what the model counts, whichever way an engine divides its ops.
TEST_P(Training, SpansOfAStepHoldItsFlops) {
  ERG_OPEN_ENGINE(engine, GetParam(), DType::f32);
  for (Spec spec : {tiny_gpt(), tiny_resnet()}) {
    spec.workload.micro_batch = spec.workload.global_batch / 2;
    const auto workload = prepared(spec, *engine);
    WorkTrace trace;
    engine->set_trace(&trace);
    workload->step();
    engine->set_trace(nullptr);
    const Network network = make_network(spec, DType::f32);
    EXPECT_TRUE(trace.open.empty());
    EXPECT_EQ(trace.ops, int64_t(2 * (2 * network.ops.size() - 1)));  // two micro-batches; the head is one pass
    EXPECT_NEAR(trace.flops / workload->flops_per_step(), 1, 1e-9) << workload->sample_unit();
  }
}

TEST_P(Training, ReportsSamplesOfTheGlobalBatch) {
  ERG_OPEN_ENGINE(engine, GetParam(), DType::f32);
  Spec spec = tiny_gpt();
  spec.workload.micro_batch = 2;
  const auto gpt = prepared(spec, *engine);
  EXPECT_EQ(gpt->step().samples, 4 * 32);
  EXPECT_EQ(gpt->samples_per_step(), 4 * 32);
  EXPECT_STREQ(gpt->sample_unit(), "tokens");
  EXPECT_GT(gpt->flops_per_step(), 0);
  const auto resnet = prepared(tiny_resnet(), *engine);
  EXPECT_EQ(resnet->step().samples, 8);
  EXPECT_EQ(resnet->samples_per_step(), 8);
  EXPECT_STREQ(resnet->sample_unit(), "images");
}

// Adam divides by the gradient's own size, so that clipping shows where the clipped gradient is far below epsilon: steps shrink to 0.
TEST_P(Training, ClippingScalesTheGradientThatTheOptimizerSees) {
  ERG_OPEN_ENGINE(engine, GetParam(), DType::f32);
  Spec spec = tiny_gpt();
  spec.workload.optimizer.weight_decay = 0;
  const auto fall = [&](double clip) {
    spec.workload.optimizer.clip = clip;
    const std::vector<double> losses = train(spec, *engine, 4, fixed_batches(spec.workload)).losses;
    return losses.front() - losses.back();
  };
  EXPECT_GT(fall(0), 0.1);
  EXPECT_GT(fall(1), 0.1);
  EXPECT_LT(std::abs(fall(1e-13)), 1e-4);
}

// With no gradient to speak of and a rate x decay of 1/2, decayed weights halve each step: the tied logits flatten and the loss nears
// ln V. Without decay it stays.
TEST_P(Training, WeightDecayShrinksTheMatrices) {
  ERG_OPEN_ENGINE(engine, GetParam(), DType::f32);
  Spec spec = tiny_gpt();
  spec.workload.optimizer.clip = 1e-13;
  spec.workload.optimizer.learning_rate = 1e-3;
  const auto distance = [&](double decay) {
    spec.workload.optimizer.weight_decay = decay;
    return std::abs(train(spec, *engine, 8, fixed_batches(spec.workload)).losses.back() - std::log(256.0));
  };
  EXPECT_GT(distance(0), 1e-3);
  EXPECT_LT(distance(500), 1e-4);
}

// Warm-up: the first step of a long one hardly moves.
TEST_P(Training, FollowsTheSchedule) {
  ERG_OPEN_ENGINE(engine, GetParam(), DType::f32);
  Spec spec = tiny_gpt();
  const auto second_loss_fall = [&](int64_t warmup) {
    spec.workload.optimizer.warmup_steps = warmup;
    const std::vector<double> losses = train(spec, *engine, 2, fixed_batches(spec.workload)).losses;
    return losses[0] - losses[1];
  };
  const double full = second_loss_fall(0), tenth = second_loss_fall(10);
  EXPECT_NEAR(tenth / full, 0.1, 0.02);
}

TEST_P(Training, LossFallsOnSyntheticTokens) {
  ERG_OPEN_ENGINE(engine, GetParam(), DType::f32);
  const std::vector<double> losses = train(tiny_gpt(), *engine, 60, nullptr).losses;
  EXPECT_NEAR(losses.front(), std::log(256.0), 0.4);
  EXPECT_LT(losses.back(), losses.front() - 0.5);
}

TEST_P(Training, LossFallsOnSyntheticImagesAndValidationAgrees) {
  ERG_OPEN_ENGINE(engine, GetParam(), DType::f32);
  const Spec spec = tiny_resnet();
  const auto resnet = prepared(spec, *engine);
  const Validation before = resnet->validate(8);
  double first = 0, last = 0;  // the mean of the last ten steps: each sees only 8 images
  for (int step = 0; step < 40; ++step) {
    resnet->step();
    if (step == 0) first = resnet->read_loss();
    if (step >= 30) last += resnet->read_loss() / 10;
  }
  const Validation after = resnet->validate(8);
  EXPECT_LT(last, first - 0.5);
  EXPECT_EQ(after.samples, 64);
  EXPECT_LT(after.loss, before.loss - 0.5);
  EXPECT_GT(after.top1, before.top1 + 0.3);
}

TEST_P(Training, ValidationChangesNothing) {
  ERG_OPEN_ENGINE(engine, GetParam(), DType::f32);
  for (const Spec& spec : {tiny_gpt(), tiny_resnet()}) {
    const auto with = prepared(spec, *engine, fixed_batches(spec.workload)),
               without = prepared(spec, *engine, fixed_batches(spec.workload));
    for (int step = 0; step < 3; ++step) {
      with->step(), without->step();
      const double loss = with->read_loss();
      EXPECT_EQ(loss, without->read_loss());
      with->validate(1);
      EXPECT_EQ(with->read_loss(), loss) << "the last step's loss is still there";
    }
  }
}

TEST_P(Training, TheSameSeedGivesTheSameLosses) {
  ERG_OPEN_ENGINE(engine, GetParam(), DType::f32);
  for (Spec spec : {tiny_gpt(), tiny_resnet()}) {
    const std::vector<double> a = train(spec, *engine, 3, nullptr).losses, b = train(spec, *engine, 3, nullptr).losses;
    EXPECT_EQ(a, b);
    spec.workload.seed = 2;
    EXPECT_NE(train(spec, *engine, 3, nullptr).losses, a);
  }
}

TEST_P(Training, Bf16GradientsTrainToo) {
  ERG_OPEN_ENGINE(engine, GetParam(), DType::bf16);
  for (Spec spec : {tiny_gpt(DType::bf16), tiny_resnet(DType::bf16)}) {
    const std::vector<double> fp32 = train(spec, *engine, 5, fixed_batches(spec.workload)).losses;
    spec.workload.gradients = DType::bf16;
    const std::vector<double> bf16 = train(spec, *engine, 5, fixed_batches(spec.workload)).losses;
    for (size_t step = 0; step < 5; ++step) EXPECT_NEAR(bf16[step] / fp32[step], 1, 2e-2) << "step " << step + 1;
  }
}

// The engine keeps its scratch for the next ops; everything else comes back.
TEST_P(Training, GivesItsMemoryBack) {
  ERG_OPEN_ENGINE(engine, GetParam(), DType::f32);
  for (const Spec& spec : {tiny_gpt(), tiny_resnet()}) {
    train(spec, *engine, 1, fixed_batches(spec.workload));
    EXPECT_EQ(engine->memory_in_use(), engine->scratch_bytes(Engine::Scratch::op) + engine->scratch_bytes(Engine::Scratch::block));
  }
}

TEST_P(Training, StepsTakeNoFurtherDeviceMemory) {
  ERG_OPEN_ENGINE(engine, GetParam(), DType::f32);
  for (const Spec& spec : {tiny_gpt(), tiny_resnet()}) {
    const auto workload = prepared(spec, *engine, fixed_batches(spec.workload));
    const int64_t before = engine->memory_in_use();
    engine->reset_memory_peak();
    for (int step = 0; step < 2; ++step) workload->step();
    workload->validate(1);
    EXPECT_EQ(engine->memory_in_use(), before);
    EXPECT_EQ(engine->memory_peak(), before);
  }
}

}  // namespace
}  // namespace erg::test
