// The sum of what our engines allocate: state per parameter, what each op saves, gradients in flight, scratch.
#include "plan/memory.hpp"

#include <algorithm>

namespace erg {
namespace {

constexpr double fp32_bytes = 4;

// Bytes per parameter: fp32 master and optimizer state (AdamW two moments, SGD one), gradient, and the copies in which the passes
// read the weight. A matrix has one copy in the activations' type (none for fp32, where the master serves); a convolution has one
// for forward and one for its input gradient, in other layouts than the master's, so that it needs them in fp32 too.
double state_bytes(const WorkloadSpec& w, const Plan& plan) {
  const double element = double(bytes_of(plan.dtype)), gradient = double(bytes_of(w.gradients));
  const double per_parameter = w.kind == WorkloadKind::gpt
                                   ? fp32_bytes + 2 * fp32_bytes + gradient + (plan.dtype == DType::f32 ? 0 : element)
                                   : fp32_bytes + fp32_bytes + gradient + 2 * element;
  return double(plan.network.parameters) * per_parameter;
}

double output_elements(const ConvBnDesc& d) { return double(d.batch * d.out_channels * d.out_height() * d.out_width()); }

// ResNet is a chain: an op reads one gradient and writes another, or the same where a block's shortcut is the identity. Two buffers, each
// as large as its largest tensor.
double chain_gradients(const Network& network) {
  double largest[2] = {};
  size_t turn = 0;
  const auto see = [&](double elements, bool in_place) {
    turn = in_place ? turn : 1 - turn;
    largest[turn] = std::max(largest[turn], elements);
  };
  for (const NamedOp& op : network.ops) {
    if (const auto* d = std::get_if<ConvBnDesc>(&op.desc)) see(output_elements(*d), false);
    if (const auto* d = std::get_if<MaxPoolDesc>(&op.desc)) see(double(d->batch * d->channels * d->out_height() * d->out_width()), false);
    if (const auto* d = std::get_if<BottleneckDesc>(&op.desc)) see(output_elements(d->expand()), !d->projection);
    if (const auto* d = std::get_if<GlobalAvgPoolDesc>(&op.desc)) see(double(d->batch * d->channels), false);
  }
  return largest[0] + largest[1];
}

// Gradients between ops. GPT: residual stream, its branch (value and gradient), a narrow and a wide buffer, and the one that GELU's
// outputs share.
double gradients_in_flight(const WorkloadSpec& w, const Plan& plan) {
  const double element = double(bytes_of(plan.dtype));
  if (w.kind == WorkloadKind::gpt) {
    const double rows = double(plan.network.samples_per_micro_batch);
    return rows * element * double(3 * w.gpt.hidden + std::max(3 * w.gpt.hidden, w.gpt.ffn) + w.gpt.ffn);
  }
  return chain_gradients(plan.network) * element;
}

// The head works on at most 1024 rows at a time: probabilities of them all, and two statistics of each of the 64 parts of a block of at
// most 3200 classes, three if smoothed; the rows' inputs reordered; in bf16 also fp32 logits of a block, the rows' gradient, and the
// block's weights reordered.
double head_scratch(const ClassifierDesc& d) {
  constexpr int64_t most_rows = 1024, most_classes = 3200, parts = 64;
  const int64_t rows = std::min(d.rows, most_rows), blocks = (d.classes + most_classes - 1) / most_classes;
  const int64_t block = (d.classes + blocks - 1) / blocks, statistics = blocks * parts * (d.label_smoothing > 0 ? 3 : 2);
  const double element = double(bytes_of(d.dtype));
  const double always = double(rows * statistics) * fp32_bytes + double(rows * (d.classes + d.in)) * element;
  if (d.dtype == DType::f32) return always;
  return always + double(rows * (block + d.in)) * fp32_bytes + double(block * d.in) * element;
}

// Inside a bottleneck: the outputs of reduce and spatial, then their gradients; in forward the projected shortcut too.
double block_scratch(const BottleneckDesc& b) {
  return (output_elements(b.reduce()) + output_elements(b.spatial()) + (b.projection ? output_elements(b.expand()) : 0)) *
         double(bytes_of(b.dtype));
}

// Ops share two pieces of scratch, each as large as its largest user needs: one inside an op, where the head needs most, one inside a
// block.
double scratch_bytes(const Network& network) {
  double op_scratch = 0, block = 0;
  for (const NamedOp& op : network.ops) {
    if (const auto* head = std::get_if<ClassifierDesc>(&op.desc)) op_scratch = std::max(op_scratch, head_scratch(*head));
    if (const auto* b = std::get_if<BottleneckDesc>(&op.desc)) block = std::max(block, block_scratch(*b));
  }
  return op_scratch + block;
}

double input_bytes(const WorkloadSpec& w, const Plan& plan) {
  if (w.kind == WorkloadKind::gpt) return 2.0 * double(plan.network.samples_per_micro_batch) * double(bytes_of(DType::i32));
  return double(plan.micro_batch * 3 * w.resnet.image_size * w.resnet.image_size) * double(bytes_of(plan.dtype));
}

}  // namespace

MemoryPlan plan_memory(const Spec& spec, const Plan& plan) {
  const WorkloadSpec& w = spec.workload;
  MemoryPlan m;
  m.state_bytes = state_bytes(w, plan);
  m.activation_bytes = plan.network.saved_bytes + gradients_in_flight(w, plan);
  m.workspace_bytes = input_bytes(w, plan) + scratch_bytes(plan.network);
  return m;
}

}  // namespace erg
