// Each op's FLOPs, parameters, traffic and saved bytes against counts done by hand, and the names that tests and benchmarks print.
#include <gtest/gtest.h>

#include "model/ops.hpp"

namespace erg {
namespace {

ConvBnDesc conv() {
  ConvBnDesc d;
  d.batch = 2, d.in_channels = 3, d.in_height = 8, d.in_width = 10;
  d.out_channels = 5, d.kernel = 3, d.stride = 2, d.padding = 1;
  d.dtype = DType::bf16;
  return d;
}

TEST(Cost, ConvolutionWithBatchNorm) {
  const OpCost c = cost(conv());  // out: 2 x 5 x 4 x 5 = 200 elements, weights 5 x 3 x 3 x 3 = 135, x 480
  EXPECT_EQ(c.flops_forward, 2 * 2 * 4 * 5 * 135);
  EXPECT_EQ(c.flops_backward, 2 * c.flops_forward);
  EXPECT_EQ(c.parameters, 135 + 5 + 5);
  EXPECT_EQ(c.bytes_forward, 2 * (480 + 135 + 200));
  EXPECT_EQ(c.bytes_backward, 2 * (480 + 2 * 200 + 2 * 135 + 480));
  EXPECT_EQ(c.saved_bytes, 2 * 200 + 2 * 5 * 4);  // before the norm, mean and 1/std in fp32; y follows from them
}

TEST(Cost, ResidualAddReadsAndPassesOneMoreTensor) {
  ConvBnDesc with = conv();
  with.residual = true;
  EXPECT_EQ(cost(with).bytes_forward - cost(conv()).bytes_forward, 2 * 200);
  EXPECT_EQ(cost(with).saved_bytes - cost(conv()).saved_bytes, 2 * 200);  // y; the residual belongs to the op that made it
}

TEST(Cost, BottleneckIsItsConvolutions) {
  BottleneckDesc b;
  b.batch = 2, b.in_channels = 16, b.in_height = b.in_width = 9, b.width = 8, b.stride = 2;
  b.dtype = DType::f32;
  for (const bool projection : {false, true}) {
    b.projection = projection;
    OpCost sum;
    std::vector<ConvBnDesc> parts = {b.reduce(), b.spatial(), b.expand()};
    if (projection) parts.push_back(b.project());
    for (const ConvBnDesc& part : parts) {
      sum.flops_forward += cost(part).flops_forward;
      sum.flops_backward += cost(part).flops_backward;
      sum.parameters += cost(part).parameters;
      sum.saved_bytes += cost(part).saved_bytes;
    }
    EXPECT_EQ(cost(b).flops_forward, sum.flops_forward);
    EXPECT_EQ(cost(b).flops_backward, sum.flops_backward);
    EXPECT_EQ(cost(b).parameters, sum.parameters);
    EXPECT_EQ(cost(b).saved_bytes, sum.saved_bytes);
  }
  EXPECT_EQ(b.expand().out_channels, 32);
  EXPECT_EQ(b.expand().in_height, 5);
}

TEST(Cost, PoolingKeepsWhereTheMaximumWas) {
  MaxPoolDesc d;
  d.batch = 2, d.channels = 3, d.in_height = 8, d.in_width = 8;
  d.dtype = DType::bf16;
  EXPECT_EQ(cost(d).flops_forward, 0);
  EXPECT_EQ(cost(d).saved_bytes, 2 * 3 * 4 * 4 * (2 + 1));
  EXPECT_EQ(cost(GlobalAvgPoolDesc{2, 3, 8, 8, DType::f32}).saved_bytes, 2 * 3 * 4);
}

TEST(Cost, LinearKeepsItsOutputOrWhatWentIntoGelu) {
  LinearDesc d{6, 10, 20, true, Activation::none, DType::bf16};
  EXPECT_EQ(cost(d).flops_forward, 2 * 6 * 10 * 20);
  EXPECT_EQ(cost(d).flops_backward, 4 * 6 * 10 * 20);
  EXPECT_EQ(cost(d).parameters, 220);
  EXPECT_EQ(cost(d).bytes_forward, 2 * (60 + 200 + 120));
  EXPECT_EQ(cost(d).bytes_backward, 2 * (60 + 200 + 120 + 60 + 200));
  EXPECT_EQ(cost(d).saved_bytes, 2 * 120);
  d.activation = Activation::gelu_tanh, d.bias = false;
  EXPECT_EQ(cost(d).saved_bytes, 2 * 120);
  EXPECT_EQ(cost(d).parameters, 200);
}

TEST(Cost, ResidualNormKeepsTheStreamItsOutputAndStatistics) {
  EXPECT_EQ(cost(ResidualNormDesc{6, 10, true, DType::bf16}).saved_bytes, 2 * 60 * 2 + 2 * 6 * 4);
  EXPECT_EQ(cost(ResidualNormDesc{6, 10, false, DType::bf16}).saved_bytes, 60 * 2 + 2 * 6 * 4);
  EXPECT_EQ(cost(ResidualNormDesc{6, 10, true, DType::bf16}).parameters, 20);
}

TEST(Cost, AttentionIsTwoProductsAndKeepsNoSquareMatrix) {
  const AttentionDesc d{2, 7, 3, 4, false, DType::bf16};
  EXPECT_EQ(cost(d).flops_forward, 2 * 3 * 2 * (2 * 7 * 7 * 4));
  EXPECT_EQ(cost(d).flops_backward, 2 * cost(d).flops_forward);
  EXPECT_EQ(attention_flops_forward(d, false), cost(d).flops_forward);
  EXPECT_EQ(attention_flops_forward(d, true), cost(d).flops_forward / 2);
  EXPECT_EQ(cost(d).saved_bytes, 2 * 7 * 12 * 2 + 2 * 3 * 7 * 4);  // y and the log-sum-exp
}

TEST(Cost, EmbeddingAndTiedHeadShareOneTable) {
  const EmbeddingDesc embedding{2, 7, 100, 12, 7, true, DType::f32};
  EXPECT_EQ(cost(embedding).parameters, 107 * 12);
  EXPECT_EQ(cost(embedding).flops_forward, 0);
  ClassifierDesc head;
  head.rows = 14, head.in = 12, head.classes = 100;
  EXPECT_EQ(cost(head).parameters, 1200);
  EXPECT_EQ(cost(head).flops_forward + cost(head).flops_backward, 6.0 * 14 * 12 * 100);
  head.bias = true;
  EXPECT_EQ(cost(head).parameters, 1300);
  head.tied = true, head.bias = false;
  EXPECT_EQ(cost(head).parameters, 0);
  EXPECT_EQ(cost(head).saved_bytes, 0);
}

TEST(Describe, NamesSayWhatMatters) {
  ConvBnDesc d;
  d.batch = 32, d.in_channels = 256, d.in_height = d.in_width = 28, d.out_channels = 512;
  d.kernel = 3, d.stride = 2, d.padding = 1, d.dtype = DType::bf16;
  EXPECT_EQ(describe(d), "conv 3x3/2 256->512 @28 b32 bf16 bn+relu");
  d.residual = true, d.relu = false, d.input_gradient = false, d.in_width = 30;
  EXPECT_EQ(describe(d), "conv 3x3/2 256->512 @28x30 b32 bf16 bn+add no-dx");
  EXPECT_EQ(describe(LinearDesc{64, 768, 3072, true, Activation::gelu_tanh, DType::f32}), "linear 64x768->3072 fp32 bias+gelu");
  EXPECT_EQ(describe(ResidualNormDesc{64, 768, true, DType::f32}), "add+layernorm 64x768 fp32");
  EXPECT_EQ(describe(AttentionDesc{4, 512, 12, 64, true, DType::bf16}), "attention b4 s512 12x64 bf16 rope");
}

TEST(OpClass, GroupsOpsForTheProfile) {
  EXPECT_EQ(op_class(ConvBnDesc{}), "convolution");
  EXPECT_EQ(op_class(BottleneckDesc{}), "convolution");
  EXPECT_EQ(op_class(MaxPoolDesc{}), "pooling");
  EXPECT_EQ(op_class(LinearDesc{}), "linear");
  EXPECT_EQ(op_class(ResidualNormDesc{}), "norm");
  EXPECT_EQ(op_class(AttentionDesc{}), "attention");
  EXPECT_EQ(op_class(EmbeddingDesc{}), "embedding");
  EXPECT_EQ(op_class(ClassifierDesc{}), "classifier");
}

}  // namespace
}  // namespace erg
