// GPT-2 as a list of ops (Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", section 2.3): pre-norm
// blocks, learned positions or RoPE, tied head. Every residual addition is fused with the layer norm that follows it, so a
// norm takes (x, delta) and gives the residual stream r and its normalised y; the first norm has nothing to add yet.
#include "model/network_builder.hpp"

namespace erg {
namespace {

void check(const GptShape& g, int64_t micro_batch) {
  detail::require(micro_batch > 0, "the micro-batch is " + std::to_string(micro_batch),
                  "set workload.micro_batch or global_batch to at least 1");
  detail::require(g.layers > 0 && g.hidden > 0 && g.heads > 0 && g.ffn > 0 && g.sequence > 0, "a size of the GPT is not positive",
                  "give layers, hidden, heads, ffn and sequence of at least 1");
  detail::require(g.hidden % g.heads == 0, std::to_string(g.heads) + " heads do not divide hidden " + std::to_string(g.hidden),
                  "change workload.heads");
  detail::require(g.vocabulary > 0 && g.padded_vocabulary >= g.vocabulary, "the padded vocabulary is smaller than the vocabulary",
                  "pad workload.vocabulary to the next multiple of 128");
}

}  // namespace

Network gpt_network(const GptShape& g, int64_t micro_batch, DType dtype, double loss_scale) {
  check(g, micro_batch);
  const int64_t rows = micro_batch * g.sequence;
  const bool rope = g.positions == Positions::rope;
  const int64_t positions = rope ? 0 : g.sequence;

  Network n;
  n.micro_batch = micro_batch;
  n.samples_per_micro_batch = rows;
  auto norm = [&](const std::string& name, bool residual) { n.ops.push_back({name, ResidualNormDesc{rows, g.hidden, residual, dtype}}); };
  auto linear = [&](const std::string& name, int64_t in, int64_t out, Activation activation) {
    n.ops.push_back({name, LinearDesc{rows, in, out, true, activation, dtype}});
  };

  n.ops.push_back({"embed", EmbeddingDesc{micro_batch, g.sequence, g.padded_vocabulary, g.hidden, positions, true, dtype}});
  for (int64_t layer = 0; layer < g.layers; ++layer) {
    const std::string h = "h." + std::to_string(layer) + ".";
    norm(h + "ln1", layer > 0);
    linear(h + "qkv", g.hidden, 3 * g.hidden, Activation::none);
    n.ops.push_back({h + "attention", AttentionDesc{micro_batch, g.sequence, g.heads, g.hidden / g.heads, rope, dtype}});
    linear(h + "proj", g.hidden, g.hidden, Activation::none);
    norm(h + "ln2", true);
    linear(h + "up", g.hidden, g.ffn, Activation::gelu_tanh);
    linear(h + "down", g.ffn, g.hidden, Activation::none);
  }
  norm("ln_f", true);

  ClassifierDesc head;
  head.rows = rows, head.in = g.hidden, head.classes = g.padded_vocabulary;
  head.tied = true;
  head.loss_scale = loss_scale;
  head.dtype = dtype;
  n.ops.push_back({"head", head});
  detail::add_totals(n);
  return n;
}

}  // namespace erg
