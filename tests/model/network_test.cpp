// The networks' op lists: order, names, that each op's input is what the op before it makes, and impossible shapes.
#include "model/network.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace erg {
namespace {

std::vector<std::string> names(const Network& n) {
  std::vector<std::string> out;
  for (const NamedOp& op : n.ops) out.push_back(op.name);
  return out;
}

template <class Desc>
const Desc& op(const Network& n, const std::string& name) {
  for (const NamedOp& o : n.ops) {
    if (o.name == name) return std::get<Desc>(o.desc);
  }
  throw std::runtime_error("no op " + name);
}

GptShape tiny_gpt() {
  GptShape g;
  g.layers = 2, g.hidden = 64, g.heads = 4, g.ffn = 256, g.vocabulary = 200, g.padded_vocabulary = 256, g.sequence = 32;
  return g;
}

TEST(GptNetwork, OpsInPreNormOrder) {
  EXPECT_EQ(names(gpt_network(tiny_gpt(), 3, DType::bf16)),
            (std::vector<std::string>{"embed", "h.0.ln1", "h.0.qkv", "h.0.attention", "h.0.proj", "h.0.ln2", "h.0.up", "h.0.down",
                                      "h.1.ln1", "h.1.qkv", "h.1.attention", "h.1.proj", "h.1.ln2", "h.1.up", "h.1.down", "ln_f", "head"}));
}

TEST(GptNetwork, OnlyTheFirstNormHasNothingToAdd) {
  const Network n = gpt_network(tiny_gpt(), 3, DType::bf16);
  EXPECT_FALSE(op<ResidualNormDesc>(n, "h.0.ln1").residual);
  for (const char* name : {"h.0.ln2", "h.1.ln1", "h.1.ln2", "ln_f"}) EXPECT_TRUE(op<ResidualNormDesc>(n, name).residual) << name;
}

TEST(GptNetwork, ShapesFollowFromTheSpec) {
  const Network n = gpt_network(tiny_gpt(), 3, DType::bf16, 0.125);
  EXPECT_EQ(op<EmbeddingDesc>(n, "embed").positions, 32);
  EXPECT_EQ(op<EmbeddingDesc>(n, "embed").vocabulary, 256);
  EXPECT_EQ(op<LinearDesc>(n, "h.1.qkv").out, 192);
  EXPECT_EQ(op<LinearDesc>(n, "h.1.up").activation, Activation::gelu_tanh);
  EXPECT_EQ(op<LinearDesc>(n, "h.1.down").activation, Activation::none);
  EXPECT_EQ(op<AttentionDesc>(n, "h.0.attention").head_size, 16);
  const ClassifierDesc& head = op<ClassifierDesc>(n, "head");
  EXPECT_EQ(head.rows, 96);
  EXPECT_EQ(head.classes, 256);
  EXPECT_TRUE(head.tied);
  EXPECT_FALSE(head.bias);
  EXPECT_EQ(head.loss_scale, 0.125);
  for (const NamedOp& o : n.ops) std::visit([](const auto& d) { EXPECT_EQ(d.dtype, DType::bf16); }, o.desc);
}

// Bytes a token and layer in bf16, counted by hand: r and y of two norms 8h, q, k, v 6h, attention's y 2h, up's input of GELU, of which
// the output is made again, 8h: 24h, with mean and 1/std of both norms 16 and a log-sum-exp for each head 4a. proj's and down's outputs are
// only added.
TEST(GptNetwork, KeepsWhatBackwardReads) {
  GptShape two = tiny_gpt(), three = tiny_gpt();
  three.layers = 3;
  const double layer = gpt_network(three, 3, DType::bf16).saved_bytes - gpt_network(two, 3, DType::bf16).saved_bytes;
  EXPECT_EQ(layer, 3 * 32 * (24 * 64 + 16 + 4 * 4));
}

TEST(GptNetwork, RopeTurnsInAttentionInsteadOfATable) {
  GptShape g = tiny_gpt();
  g.positions = Positions::rope;
  const Network n = gpt_network(g, 1, DType::f32);
  EXPECT_EQ(op<EmbeddingDesc>(n, "embed").positions, 0);
  EXPECT_TRUE(op<AttentionDesc>(n, "h.1.attention").rope);
}

TEST(ResNetNetwork, OpsInOrder) {
  ResNetShape r;
  r.blocks = {2, 1};
  EXPECT_EQ(names(resnet_network(r, 1, DType::f32)),
            (std::vector<std::string>{"stem", "pool", "layer1.0", "layer1.1", "layer2.0", "avgpool", "head"}));
  EXPECT_EQ(resnet_network(ResNetShape{}, 1, DType::f32).ops.size(), 2u + 16u + 2u);
}

// Table 1 of He et al. 2015: 112, 56, 56, 28, 14, 7; the stride is in the 3x3 (v1.5).
TEST(ResNetNetwork, EachOpTakesWhatTheOneBeforeMakes) {
  const Network n = resnet_network(ResNetShape{}, 2, DType::bf16, 0.1f, 0.5);
  int64_t channels = 64, size = op<MaxPoolDesc>(n, "pool").out_height();
  EXPECT_EQ(op<ConvBnDesc>(n, "stem").out_height(), 112);
  EXPECT_EQ(size, 56);
  for (const NamedOp& o : n.ops) {
    const auto* b = std::get_if<BottleneckDesc>(&o.desc);
    if (b == nullptr) continue;
    EXPECT_EQ(b->in_channels, channels) << o.name;
    EXPECT_EQ(b->in_height, size) << o.name;
    EXPECT_EQ(b->reduce().out_height(), size) << o.name;  // not strided: v1.5
    EXPECT_EQ(b->spatial().stride, b->stride) << o.name;
    EXPECT_EQ(b->expand().in_height, b->spatial().out_height()) << o.name;
    EXPECT_TRUE(b->expand().residual && b->expand().relu) << o.name;
    EXPECT_EQ(b->projection, o.name.back() == '0') << o.name;
    if (b->projection) {
      EXPECT_EQ(b->project().out_height(), b->expand().out_height()) << o.name;
      EXPECT_FALSE(b->project().relu) << o.name;
    }
    channels = b->expand().out_channels, size = b->expand().out_height();
  }
  EXPECT_EQ(channels, 2048);
  EXPECT_EQ(size, 7);
  EXPECT_EQ(op<GlobalAvgPoolDesc>(n, "avgpool").channels, 2048);
  const ClassifierDesc& head = op<ClassifierDesc>(n, "head");
  EXPECT_EQ(head.in, 2048);
  EXPECT_TRUE(head.bias);
  EXPECT_FALSE(head.tied);
  EXPECT_FLOAT_EQ(head.label_smoothing, 0.1f);
}

TEST(MakeNetwork, MicroBatchIsWhatOneDeviceTakes) {
  Spec spec;
  spec.workload.kind = WorkloadKind::resnet50;
  spec.workload.global_batch = 12;
  spec.devices = 2;
  const Network n = make_network(spec, DType::f32);
  EXPECT_EQ(n.micro_batch, 6);
  EXPECT_EQ(op<ClassifierDesc>(n, "head").loss_scale, 1.0 / 12);  // the mean over the global batch
  spec.workload.micro_batch = 3;
  EXPECT_EQ(make_network(spec, DType::f32).micro_batch, 3);
}

TEST(MakeNetwork, GptLossIsTheMeanOverTokens) {
  Spec spec;
  spec.workload.gpt = tiny_gpt();
  spec.workload.global_batch = 4;
  spec.workload.micro_batch = 2;
  EXPECT_EQ(op<ClassifierDesc>(make_network(spec, DType::f32), "head").loss_scale, 1.0 / (4 * 32));
}

TEST(MakeNetwork, ImpossibleShapesAreUsageErrors) {
  GptShape heads = tiny_gpt(), vocabulary = tiny_gpt();
  heads.heads = 5;
  vocabulary.padded_vocabulary = 199;
  ResNetShape empty;
  empty.blocks = {};
  Spec external;
  external.workload.kind = WorkloadKind::external;
  EXPECT_THROW(gpt_network(heads, 1, DType::f32), Error);
  EXPECT_THROW(gpt_network(vocabulary, 1, DType::f32), Error);
  EXPECT_THROW(gpt_network(tiny_gpt(), 0, DType::f32), Error);
  EXPECT_THROW(resnet_network(empty, 1, DType::f32), Error);
  EXPECT_THROW(resnet_network(ResNetShape{}, 0, DType::f32), Error);
  EXPECT_THROW(make_network(external, DType::f32), Error);
}

}  // namespace
}  // namespace erg
