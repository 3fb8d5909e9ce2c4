// The network of a spec, and the totals that follow from any list of ops.
#include "model/network.hpp"

#include "core/error.hpp"
#include "model/network_builder.hpp"

namespace erg {
namespace {

// What a linear op gives to a residual norm as delta is not kept: that norm's backward reads the sum, the linear's reads only its input.
bool only_added_to_the_stream(const std::vector<NamedOp>& ops, size_t i) {
  const auto* linear = std::get_if<LinearDesc>(&ops[i].desc);
  if (!linear || linear->activation != Activation::none || i + 1 == ops.size()) return false;
  const auto* norm = std::get_if<ResidualNormDesc>(&ops[i + 1].desc);
  return norm && norm->residual;
}

}  // namespace

namespace detail {

void add_totals(Network& network) {
  for (size_t i = 0; i < network.ops.size(); ++i) {
    const NamedOp& op = network.ops[i];
    const OpCost c = cost(op.desc);
    const double flops = c.flops_forward + c.flops_backward;
    double causal = flops;
    if (const auto* attention = std::get_if<AttentionDesc>(&op.desc)) {
      causal *= attention_flops_forward(*attention, true) / attention_flops_forward(*attention, false);
    }
    network.flops_full += flops;
    network.flops_causal += causal;
    network.parameters += c.parameters;
    if (!only_added_to_the_stream(network.ops, i)) network.saved_bytes += c.saved_bytes;
  }
}

void require(bool good, const std::string& message, const std::string& fix) {
  if (!good) throw Error(ErrorKind::usage, message, "model", fix);
}

}  // namespace detail

Network make_network(const Spec& spec, DType dtype) {
  const WorkloadSpec& w = spec.workload;
  const int64_t model_parallel = spec.layout.tp * spec.layout.pp;
  detail::require(w.kind != WorkloadKind::external, "an external workload has no network", "use workload.kind = \"gpt\" or \"resnet50\"");
  detail::require(model_parallel > 0 && spec.devices % model_parallel == 0,
                  std::to_string(spec.devices) + " devices do not divide by tp x pp = " + std::to_string(model_parallel),
                  "change devices, layout.tp or layout.pp");
  const int64_t data_parallel = spec.devices / model_parallel;
  const int64_t micro_batch = w.micro_batch > 0 ? w.micro_batch : w.global_batch / data_parallel;
  if (w.kind == WorkloadKind::gpt) { return gpt_network(w.gpt, micro_batch, dtype, 1.0 / double(w.global_batch * w.gpt.sequence)); }
  return resnet_network(w.resnet, micro_batch, dtype, float(w.optimizer.label_smoothing), 1.0 / double(w.global_batch));
}

}  // namespace erg
