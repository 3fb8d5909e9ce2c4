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

double largest_convolution(const Network& network) {
  double elements = 0;
  const auto see = [&](const ConvBnDesc& d) {
    elements = std::max(elements, double(d.batch * d.out_channels * d.out_height() * d.out_width()));
  };
  for (const NamedOp& op : network.ops) {
    if (const auto* conv = std::get_if<ConvBnDesc>(&op.desc)) see(*conv);
    if (const auto* block = std::get_if<BottleneckDesc>(&op.desc)) see(block->expand());
  }
  return elements;
}

// Gradients between ops. GPT: residual stream, its branch (value and gradient), and a narrow and a wide buffer. ResNet: an op reads
// one and writes another.
double gradients_in_flight(const WorkloadSpec& w, const Plan& plan) {
  const double element = double(bytes_of(plan.dtype));
  if (w.kind == WorkloadKind::gpt) {
    const double rows = double(plan.network.samples_per_micro_batch);
    return rows * element * double(3 * w.gpt.hidden + std::max(3 * w.gpt.hidden, w.gpt.ffn));
  }
  return 2 * largest_convolution(plan.network) * element;
}

// The head works on at most 512 rows at a time: their logits in fp32, the logits' gradient as it is and transposed, and its weights
// reordered for the two products that read them.
double head_scratch(const ClassifierDesc& d) {
  constexpr int64_t most_rows = 512;
  const double element = double(bytes_of(d.dtype)), logits = double(std::min(d.rows, most_rows) * d.classes);
  const double gradient = d.dtype == DType::f32 ? 0 : logits * element;  // in the logits' place
  return logits * fp32_bytes + gradient + logits * element + 2 * double(d.in * d.classes) * element;
}

// Inside a bottleneck, backward keeps the gradients of its parts: two inner ones, the shortcut's, and the projection's input.
double block_scratch(const BottleneckDesc& b) {
  const auto output = [](const ConvBnDesc& d) { return double(d.batch * d.out_channels * d.out_height() * d.out_width()); };
  const double x = double(b.batch * b.in_channels * b.in_height * b.in_width);
  const double inner = output(b.reduce()) + output(b.spatial()) + output(b.expand()) + (b.projection ? x : 0);
  return inner * double(bytes_of(b.dtype));
}

// Ops share two pieces of scratch, each as large as its largest user needs: one inside an op (the head, or the gradient of the
// convolution being walked back), one inside a block.
double scratch_bytes(const Network& network) {
  double op_scratch = 0, block = 0;
  for (const NamedOp& op : network.ops) {
    if (const auto* head = std::get_if<ClassifierDesc>(&op.desc)) op_scratch = std::max(op_scratch, head_scratch(*head));
    const auto* b = std::get_if<BottleneckDesc>(&op.desc);
    if (!b) continue;
    op_scratch = std::max(op_scratch, largest_convolution(network) * double(bytes_of(b->dtype)));
    block = std::max(block, block_scratch(*b));
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
