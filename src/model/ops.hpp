// Op descriptors: what a training op is, as data, with its FLOPs, parameters, minimum traffic and bytes saved for backward.
// Networks are lists of them (network.hpp); engines build ops from them (engine/engine.hpp); the planner only reads them.
#pragma once
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/dtype.hpp"

namespace erg {

// What one op costs, per execution (one micro-batch). FLOP = one multiply or one add.
struct OpCost {
  double flops_forward = 0, flops_backward = 0;
  int64_t parameters = 0;
  double bytes_forward = 0, bytes_backward = 0;  // minimum traffic: every input and output once
  double saved_bytes = 0;                        // kept from forward to backward, outputs that others keep not counted twice
};

// Convolution without bias + batch norm (+ residual add) (+ ReLU). in: x, [residual]; out: y.
// Parameters: weight [out, in, k, k], gamma [out], beta [out]; state: running_mean, running_var [out].
// backward reads y only where there is a residual.
struct ConvBnDesc {
  int64_t batch = 0, in_channels = 0, in_height = 0, in_width = 0;
  int64_t out_channels = 0, kernel = 1, stride = 1, padding = 0;
  bool residual = false, relu = true;
  bool input_gradient = true;              // false for the first convolution
  DType dtype = DType::f32;                // of activations; statistics, gamma and beta are fp32
  float momentum = 0.1f, epsilon = 1e-5f;  // running = (1 - momentum) running + momentum batch (PyTorch's convention)
  int64_t out_height() const { return (in_height + 2 * padding - kernel) / stride + 1; }
  int64_t out_width() const { return (in_width + 2 * padding - kernel) / stride + 1; }
};

// ResNet's bottleneck v1.5: 1x1 reduce, 3x3 with the stride, 1x1 expand, identity or 1x1 projection. in: x; out: y.
// backward: where there is no projection d_x may be the memory of d_y.
struct BottleneckDesc {
  int64_t batch = 0, in_channels = 0, in_height = 0, in_width = 0;
  int64_t width = 0, stride = 1;  // out channels = 4 x width
  bool projection = false;
  DType dtype = DType::f32;
  ConvBnDesc reduce() const, spatial() const, expand() const, project() const;
};

struct MaxPoolDesc {  // 3x3, stride 2, padding 1 in ResNet. in: x; out: y; backward reads neither
  int64_t batch = 0, channels = 0, in_height = 0, in_width = 0, kernel = 3, stride = 2, padding = 1;
  DType dtype = DType::f32;
  int64_t out_height() const { return (in_height + 2 * padding - kernel) / stride + 1; }
  int64_t out_width() const { return (in_width + 2 * padding - kernel) / stride + 1; }
};

struct GlobalAvgPoolDesc {  // in: x image; out: y [batch, channels] plain
  int64_t batch = 0, channels = 0, height = 0, width = 0;
  DType dtype = DType::f32;
};

enum class Activation { none, gelu_tanh };

// y = act(x W^T + b). in: x [rows, in]; out: y [rows, out]. Parameters: weight [out, in], bias [out].
// backward reads y only where there is an activation.
struct LinearDesc {
  int64_t rows = 0, in = 0, out = 0;
  bool bias = true;
  Activation activation = Activation::none;
  DType dtype = DType::f32;
};

// r = x + delta, y = layernorm(r). in: x, [delta]; out: [r], y — without delta: in: x; out: y. Parameters: gamma [hidden], beta [hidden].
// backward: d_out: [d_r], d_y; d_in: one tensor d_x, the gradient of both x and delta. d_x may alias d_r. d_r is what the stream (r,
// or x itself where there is no delta) receives from its other readers; left out or without data: nothing. backward reads r, not the x
// and delta it was made of, whose memory may hold something else by then.
struct ResidualNormDesc {
  int64_t rows = 0, hidden = 0;
  bool residual = true;
  DType dtype = DType::f32;
  float epsilon = 1e-5f;
};

// Causal self-attention, flash form: never an s x s matrix in memory. in: qkv [batch, sequence, 3, heads, head_size];
// out: y [batch, sequence, heads, head_size]. rope rotates q and k by position first (Su et al. 2021, half-split pairs, base 10000).
struct AttentionDesc {
  int64_t batch = 0, sequence = 0, heads = 0, head_size = 0;
  bool rope = false;
  DType dtype = DType::f32;
};

// y = table[token] (+ position table). in: tokens i32 [batch, sequence]; out: y [batch * sequence, hidden].
// Parameters: tokens [vocabulary, hidden] (the table), [positions [positions, hidden]].
struct EmbeddingDesc {
  int64_t batch = 0, sequence = 0, vocabulary = 0, hidden = 0, positions = 0;  // positions = 0: none (RoPE)
  bool tied_table = false;  // the head has the same table and its backward comes first: the table's gradient always adds
  DType dtype = DType::f32;
};

// Linear + softmax + cross-entropy + its gradient, in chunks so that logits never fill memory.
// in: x [rows, in], targets i32 [rows] (-1: ignored); logits = x W^T (+ b).
// Parameters: weight [classes, in], [bias [classes]]; tied: the weight is the embedding's (bound to the same view, gradient accumulates).
struct ClassifierDesc {
  int64_t rows = 0, in = 0, classes = 0;  // classes: padded; valid_classes <= classes take part in the softmax
  int64_t valid_classes = 0;              // 0: all
  bool bias = false, tied = false;
  float label_smoothing = 0;
  double loss_scale = 1;  // gradient of loss_scale * sum of row losses; the mean over the global batch has 1 / rows / micro-batches
  DType dtype = DType::f32;
};

using OpDesc = std::variant<ConvBnDesc, BottleneckDesc, MaxPoolDesc, GlobalAvgPoolDesc, LinearDesc, ResidualNormDesc, AttentionDesc,
                            EmbeddingDesc, ClassifierDesc>;

OpCost cost(const OpDesc& desc);                                         // attention in full; attention_flops_forward tells the causal half
double attention_flops_forward(const AttentionDesc& desc, bool causal);  // 4 b s^2 h full, half of it causal
std::string op_class(const OpDesc& desc);                                // "convolution", "attention", ...
std::string describe(const OpDesc& desc);  // "conv 3x3/2 256->512 @28 b32 bf16 bn+relu": names test cases and benchmarks

}  // namespace erg
