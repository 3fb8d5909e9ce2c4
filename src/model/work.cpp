#include "model/work.hpp"

#include <string_view>

namespace erg {
namespace {

double elements_in(const ConvBnDesc& d) { return double(d.batch * d.in_channels * d.in_height * d.in_width); }
double elements_out(const ConvBnDesc& d) { return double(d.batch * d.out_channels * d.out_height() * d.out_width()); }

// Every pass of a convolution or product multiplies and adds the same pairs, over the same three arrays.
Work product(const char* const (&kinds)[3], Pass pass, double flops, double bytes) { return {kinds[size_t(pass)], flops, bytes}; }

constexpr const char* convolutions[] = {"convolution forward", "convolution input gradient", "convolution weight gradient"};
constexpr const char* products[] = {"GEMM forward", "GEMM input gradient", "GEMM weight gradient"};

// {forward, backward} of ops that are one piece.
struct Kinds {
  const char *forward, *backward;
};
Kinds kinds_of(const ConvBnDesc&) { return {"convolution and batch norm forward", "convolution and batch norm backward"}; }
Kinds kinds_of(const BottleneckDesc&) { return kinds_of(ConvBnDesc{}); }
Kinds kinds_of(const MaxPoolDesc&) { return {"pooling forward", "pooling backward"}; }
Kinds kinds_of(const GlobalAvgPoolDesc&) { return kinds_of(MaxPoolDesc{}); }
Kinds kinds_of(const LinearDesc&) { return {"linear forward", "linear backward"}; }
Kinds kinds_of(const ResidualNormDesc&) { return {"layer norm forward", "layer norm backward"}; }
Kinds kinds_of(const AttentionDesc&) { return {"attention forward", "attention backward"}; }
Kinds kinds_of(const EmbeddingDesc&) { return {"embedding forward", "embedding backward"}; }
Kinds kinds_of(const ClassifierDesc&) { return {"classifier evaluation", "classifier"}; }

Kinds kinds_of(const OpDesc& desc) {
  return std::visit([](const auto& d) { return kinds_of(d); }, desc);
}

// The causal half is what flash attention computes.
double skipped(const OpDesc& desc) {
  const auto* d = std::get_if<AttentionDesc>(&desc);
  return d ? attention_flops_forward(*d, false) - attention_flops_forward(*d, true) : 0;
}

}  // namespace

Work convolution_work(const ConvBnDesc& d, Pass pass) {
  const double weights = double(d.out_channels * d.in_channels * d.kernel * d.kernel), element = double(bytes_of(d.dtype));
  const double weight_bytes = pass == Pass::weight_gradient ? double(sizeof(float)) : element;
  return product(convolutions, pass, 2 * weights * double(d.batch * d.out_height() * d.out_width()),
                 (elements_in(d) + elements_out(d)) * element + weights * weight_bytes);
}

Work batch_norm_forward_work(const ConvBnDesc& d) {
  return {"batch norm forward", 0, (d.residual ? 3 : 2) * elements_out(d) * double(bytes_of(d.dtype))};  // z, [residual] -> y
}

Work batch_norm_backward_work(const ConvBnDesc& d) {
  return {"batch norm backward", 0, (d.residual ? 5 : 3) * elements_out(d) * double(bytes_of(d.dtype))};  // z, dy, [y] -> dz, [d_residual]
}

Work product_work(const LinearDesc& d, Pass pass) {
  const double element = double(bytes_of(d.dtype));
  return product(products, pass, 2 * double(d.rows) * double(d.in) * double(d.out),
                 (double(d.rows) * double(d.in + d.out) + double(d.in) * double(d.out)) * element);
}

Work product_work(const ClassifierDesc& d, Pass pass) {
  // Logits stay in cache, chunk by chunk.
  return product(products, pass, 2 * double(d.rows) * double(d.in) * double(d.classes),
                 (double(d.rows) + double(d.classes)) * double(d.in) * double(bytes_of(d.dtype)));
}

Work activation_forward_work(const LinearDesc& d) {
  const double y = double(d.rows * d.out) * double(bytes_of(d.dtype));
  return {"activation forward", 0, d.activation == Activation::none ? 0 : 2 * y};
}

Work activation_backward_work(const LinearDesc& d) {
  const double y = double(d.rows * d.out) * double(bytes_of(d.dtype));
  return {"activation backward", 0, d.activation == Activation::none ? y : 3 * y};  // dy, [z -> dz]
}

Work forward_work(const OpDesc& desc) {
  const OpCost c = cost(desc);
  return {kinds_of(desc).forward, c.flops_forward - skipped(desc), c.bytes_forward};
}

Work backward_work(const OpDesc& desc) {
  const OpCost c = cost(desc);
  if (std::holds_alternative<ClassifierDesc>(desc))  // trains in one call
    return {kinds_of(desc).backward, c.flops_forward + c.flops_backward, c.bytes_forward + c.bytes_backward};
  return {kinds_of(desc).backward, c.flops_backward - 2 * skipped(desc), c.bytes_backward};
}

bool is_product(const Work& w) { return std::string_view(w.kind).starts_with("GEMM"); }

}  // namespace erg
