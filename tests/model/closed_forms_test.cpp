// METHOD §3's published values, the closed forms, and the op lists' sums against them.
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "model/network.hpp"

namespace erg {
namespace {

GptShape gpt_shape(int64_t layers, int64_t hidden, int64_t heads, int64_t sequence, int64_t padded) {
  GptShape g;
  g.layers = layers, g.hidden = hidden, g.heads = heads, g.ffn = 4 * hidden;
  g.vocabulary = padded, g.padded_vocabulary = padded, g.sequence = sequence;
  return g;
}

TEST(ResNet50, HasThePublishedCounts) {
  const ResNetShape resnet50;
  EXPECT_EQ(resnet_parameters(resnet50), 25'557'032);
  EXPECT_EQ(resnet_image_macs(resnet50), 4'089'184'256.0);
  EXPECT_EQ(resnet_training_flops(resnet50), 24'299'077'632.0);  // 24.299 GFLOP
}

TEST(ResNet50, FirstConvolutionHasNoInputGradient) {
  const Network n = resnet_network(ResNetShape{}, 1, DType::f32);
  const OpCost stem = cost(n.ops.front().desc);
  EXPECT_EQ(stem.flops_forward, 2 * 118'013'952.0);  // llm.md 1.2
  EXPECT_EQ(stem.flops_backward, stem.flops_forward);
}

TEST(ResNet50, SumOfOpsIsTheClosedForm) {
  ResNetShape odd;
  odd.image_size = 45, odd.classes = 7, odd.width = 16, odd.blocks = {2, 1, 3};
  for (const ResNetShape& shape : {ResNetShape{}, odd}) {
    for (const int64_t batch : {1, 5}) {
      const Network n = resnet_network(shape, batch, DType::bf16);
      EXPECT_EQ(n.parameters, resnet_parameters(shape));
      EXPECT_EQ(n.flops_full, double(batch) * resnet_training_flops(shape));
      EXPECT_EQ(n.flops_causal, n.flops_full);
      double forward = 0;
      for (const NamedOp& op : n.ops) forward += cost(op.desc).flops_forward;
      EXPECT_EQ(forward, 2 * double(batch) * resnet_image_macs(shape));
      EXPECT_EQ(n.samples_per_micro_batch, batch);
    }
  }
}

TEST(Gpt2, HasThePublishedParameterCounts) {
  EXPECT_EQ(gpt_parameters(gpt_shape(12, 768, 12, 1024, 50257)), 124'439'808);
  EXPECT_EQ(gpt_parameters(gpt_shape(12, 768, 12, 1024, 50304)), 124'475'904);
}

// CARAML's models, counted without a position table: 0.909, 12.84 and 174.6 billion (caraml.md 1.2).
TEST(Gpt2, LargeShapesHaveTheStatedSize) {
  const auto billions = [](GptShape g) {
    g.positions = Positions::rope;
    return double(gpt_parameters(g)) / 1e9;
  };
  EXPECT_NEAR(billions(gpt_shape(16, 2048, 16, 2048, 50304)), 0.909, 0.0005);
  EXPECT_NEAR(billions(gpt_shape(40, 5120, 32, 2048, 50432)), 12.84, 0.005);
  EXPECT_NEAR(billions(gpt_shape(96, 12288, 96, 2048, 51200)), 174.6, 0.05);
}

TEST(Gpt2, RopeHasNoPositionTable) {
  GptShape g = gpt_shape(12, 768, 12, 1024, 50304);
  const int64_t learned = gpt_parameters(g);
  g.positions = Positions::rope;
  EXPECT_EQ(learned - gpt_parameters(g), 1024 * 768);
  EXPECT_EQ(gpt_network(g, 1, DType::f32).parameters, gpt_parameters(g));
}

// Korthikanti et al. 2022, equation 7, written as METHOD §3 prints it.
TEST(GptFlops, FullIsThePrintedFormula) {
  const double B = 4, L = 12, s = 1024, h = 768, V = 50304;
  const double expected = 72 * B * L * s * h * h * (1 + s / (6 * h) + V / (12 * h * L));
  EXPECT_NEAR(gpt_step_flops(gpt_shape(12, 768, 12, 1024, 50304), 4, "full") / expected, 1, 1e-12);
}

// The 6N + 12 L h s form (FlashAttention-2, table 1; nanoGPT) a token, N the weights that take part in matrix products.
TEST(GptFlops, CausalHalvesTheAttention) {
  const GptShape g = gpt_shape(12, 768, 12, 1024, 50304);
  const double n = 12.0 * 12 * 768 * 768 + 50304.0 * 768;
  EXPECT_EQ(gpt_step_flops(g, 1, "full") / 1024, 6 * n + 12.0 * 12 * 768 * 1024);
  EXPECT_EQ(gpt_step_flops(g, 1, "full") - gpt_step_flops(g, 1, "causal"), 6.0 * 12 * 1024 * 1024 * 768);
}

// Korthikanti et al. 2022, section 4.1 and llm.md's erratum: recomputing attention adds its forward, recomputing all the layers' forward.
TEST(GptFlops, HardwareAddsWhatIsRecomputed) {
  const double L = 12, s = 1024, h = 768;
  const GptShape g = gpt_shape(12, 768, 12, 1024, 50304);
  const double flash = s * s * h;  // the causal half of one 2 s s h product, again in the backward pass
  EXPECT_EQ(gpt_step_flops(g, 1, "hardware"), gpt_step_flops(g, 1, "causal") + L * flash);
  EXPECT_EQ(gpt_step_flops(g, 1, "hardware", Recompute::selective), gpt_step_flops(g, 1, "hardware") + L * 2 * s * s * h);
  EXPECT_EQ(gpt_step_flops(g, 1, "hardware", Recompute::full), gpt_step_flops(g, 1, "hardware") + L * (24 * s * h * h + 2 * s * s * h));
}

TEST(GptFlops, UnknownConventionIsAnError) {
  try {
    gpt_step_flops(GptShape{}, 1, "half");
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(e.what()).find("half"), std::string::npos);
  }
}

TEST(GptFlops, SumOfOpsIsTheClosedForm) {
  GptShape odd = gpt_shape(3, 60, 5, 33, 256);
  odd.ffn = 100, odd.vocabulary = 200;
  for (const GptShape& shape : {GptShape{}, gpt_shape(16, 2048, 16, 2048, 50304), odd}) {
    for (const int64_t batch : {1, 3}) {
      const Network n = gpt_network(shape, batch, DType::f32);
      EXPECT_EQ(n.parameters, gpt_parameters(shape));
      EXPECT_NEAR(n.flops_full / gpt_step_flops(shape, batch, "full"), 1, 1e-14);
      EXPECT_NEAR(n.flops_causal / gpt_step_flops(shape, batch, "causal"), 1, 1e-14);
      EXPECT_EQ(n.samples_per_micro_batch, batch * shape.sequence);
    }
  }
}

}  // namespace
}  // namespace erg
