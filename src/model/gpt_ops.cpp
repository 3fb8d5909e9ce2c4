// Costs and names of the ops that GPT is made of: linear, residual + layer norm, attention, embedding, and the classifier
// that ends both networks.
#include <string>

#include "model/op_costs.hpp"

namespace erg {

// Q K^T and P V: 2 products of 2 s s head_size FLOPs each, per head and sequence. The causal mask needs half of them.
double attention_flops_forward(const AttentionDesc& d, bool causal) {
  const double full = 4.0 * double(d.batch) * double(d.sequence) * double(d.sequence) * double(d.heads * d.head_size);
  return causal ? full / 2 : full;
}

namespace detail {

OpCost cost(const LinearDesc& d) {
  const double element = double(bytes_of(d.dtype));
  const double x = double(d.rows * d.in) * element, y = double(d.rows * d.out) * element;
  const double weights = double(d.in * d.out) * element;
  const double before_activation = d.activation == Activation::none ? 0 : y;
  OpCost c;
  c.flops_forward = 2.0 * double(d.rows) * double(d.in) * double(d.out);
  c.flops_backward = 2 * c.flops_forward;
  c.parameters = d.in * d.out + (d.bias ? d.out : 0);
  c.bytes_forward = x + weights + y + before_activation;
  c.bytes_backward = x + 2 * weights + y + before_activation + x;
  c.saved_bytes = y;  // or what went into the activation, of which y is made again
  return c;
}

OpCost cost(const ResidualNormDesc& d) {
  const double x = double(d.rows * d.hidden * bytes_of(d.dtype));
  const double statistics = 2 * double(d.rows) * fp32_bytes;
  const double r = d.residual ? x : 0;
  OpCost c;
  c.parameters = 2 * d.hidden;
  c.bytes_forward = x + r + r + x + statistics;   // x, delta -> r, y
  c.bytes_backward = x + x + r + x + statistics;  // r, d_y, d_r -> d_x
  c.saved_bytes = r + x + statistics;
  return c;
}

OpCost cost(const AttentionDesc& d) {
  const double y = double(d.batch * d.sequence * d.heads * d.head_size * bytes_of(d.dtype));
  const double log_sum_exp = double(d.batch * d.heads * d.sequence) * fp32_bytes;
  OpCost c;
  c.flops_forward = attention_flops_forward(d, false);
  c.flops_backward = 2 * c.flops_forward;
  c.bytes_forward = 3 * y + y + log_sum_exp;
  c.bytes_backward = 3 * y + y + log_sum_exp + y + 3 * y;  // qkv, y, d_y -> d_qkv
  c.saved_bytes = y + log_sum_exp;
  return c;
}

OpCost cost(const EmbeddingDesc& d) {
  const double y = double(d.batch * d.sequence * d.hidden * bytes_of(d.dtype));
  const double tokens = double(d.batch * d.sequence * bytes_of(DType::i32));
  OpCost c;
  c.parameters = (d.vocabulary + d.positions) * d.hidden;
  c.bytes_forward = tokens + y + y;                             // a table row read for each row written
  if (d.positions > 0) c.bytes_forward += y / double(d.batch);  // position rows are shared by the sequences
  c.bytes_backward = c.bytes_forward;
  c.saved_bytes = y;
  return c;
}

OpCost cost(const ClassifierDesc& d) {
  const double element = double(bytes_of(d.dtype));
  const double x = double(d.rows * d.in) * element, weights = double(d.in * d.classes) * element;
  OpCost c;
  c.flops_forward = 2.0 * double(d.rows) * double(d.in) * double(d.classes);
  c.flops_backward = 2 * c.flops_forward;
  c.parameters = (d.tied ? 0 : d.in * d.classes) + (d.bias ? d.classes : 0);
  c.bytes_forward = x + weights;
  c.bytes_backward = x + weights + x + weights;
  c.saved_bytes = 0;  // gradients are made while a chunk's logits are in cache; its output is d_x, a gradient in flight
  return c;
}

std::string describe(const LinearDesc& d) {
  return "linear " + std::to_string(d.rows) + "x" + std::to_string(d.in) + "->" + std::to_string(d.out) + " " +
         std::string(name_of(d.dtype)) + (d.bias ? " bias" : "") + (d.activation == Activation::gelu_tanh ? "+gelu" : "");
}

std::string describe(const ResidualNormDesc& d) {
  return (d.residual ? "add+layernorm " : "layernorm ") + std::to_string(d.rows) + "x" + std::to_string(d.hidden) + " " +
         std::string(name_of(d.dtype));
}

std::string describe(const AttentionDesc& d) {
  return "attention b" + std::to_string(d.batch) + " s" + std::to_string(d.sequence) + " " + std::to_string(d.heads) + "x" +
         std::to_string(d.head_size) + " " + std::string(name_of(d.dtype)) + (d.rope ? " rope" : "");
}

std::string describe(const EmbeddingDesc& d) {
  return "embedding b" + std::to_string(d.batch) + " s" + std::to_string(d.sequence) + " " + std::to_string(d.vocabulary) + "x" +
         std::to_string(d.hidden) + " " + std::string(name_of(d.dtype)) + (d.positions > 0 ? " positions" : "");
}

std::string describe(const ClassifierDesc& d) {
  return "classifier " + std::to_string(d.rows) + "x" + std::to_string(d.in) + "->" + std::to_string(d.classes) +
         (d.valid_classes > 0 && d.valid_classes != d.classes ? " of " + std::to_string(d.valid_classes) : "") + " " +
         std::string(name_of(d.dtype)) + (d.bias ? " bias" : "") + (d.tied ? " tied" : "") + (d.label_smoothing > 0 ? " smoothed" : "");
}

}  // namespace detail
}  // namespace erg
