// From a spec to what its run should cost: micro-batches, network, FLOPs, memory, declared peak.
#include "plan/plan.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "plan/memory.hpp"

namespace erg {
namespace {

DType activations_of(Precision precision, bool native_bf16) {
  switch (precision) {
    case Precision::automatic: return native_bf16 ? DType::bf16 : DType::f32;
    case Precision::fp32:
    case Precision::tf32: return DType::f32;  // tf32 is fp32 in memory
    case Precision::bf16: return DType::bf16;
    case Precision::fp16: return DType::f16;
  }
  return DType::f32;
}

Mesh make_mesh(const Spec& spec) {
  const int64_t model_parallel = spec.layout.tp * spec.layout.pp;
  if (model_parallel < 1 || spec.devices % model_parallel != 0) {
    throw Error(ErrorKind::usage, fmt::format("{} devices do not divide into tp {} x pp {}", spec.devices, spec.layout.tp, spec.layout.pp),
                "layout", "make devices a multiple of tp * pp");
  }
  return {spec.devices / model_parallel, spec.layout.tp, spec.layout.pp};
}

// global batch = dp * micro-batch * accumulation, exactly: nothing is truncated.
void split_batch(const WorkloadSpec& w, const Mesh& mesh, Plan& plan) {
  if (w.global_batch < 1 || w.global_batch % mesh.dp != 0) {
    throw Error(ErrorKind::usage, fmt::format("global batch {} does not divide over {} data-parallel devices", w.global_batch, mesh.dp),
                "workload.global_batch", fmt::format("use a multiple of {}", mesh.dp));
  }
  const int64_t per_replica = w.global_batch / mesh.dp;
  plan.micro_batch = w.micro_batch > 0 ? w.micro_batch : per_replica;
  if (per_replica % plan.micro_batch != 0) {
    throw Error(ErrorKind::usage, fmt::format("micro-batch {} does not divide the {} samples of a replica", plan.micro_batch, per_replica),
                "workload.micro_batch", "use a divisor, or leave it out");
  }
  plan.accumulation = per_replica / plan.micro_batch;
}

}  // namespace

Plan make_plan(const Spec& spec, bool native_bf16, const std::string& device_name, double device_share) {
  const WorkloadSpec& w = spec.workload;
  Plan plan;
  plan.mesh = make_mesh(spec);
  split_batch(w, plan.mesh, plan);
  plan.dtype = activations_of(w.precision, native_bf16);

  Spec resolved = spec;  // the network of one micro-batch
  resolved.workload.micro_batch = plan.micro_batch;
  plan.network = make_network(resolved, plan.dtype);
  if (w.kind == WorkloadKind::gpt) {
    plan.samples_per_step = w.global_batch * w.gpt.sequence;
    plan.flops_per_step = gpt_step_flops(w.gpt, w.global_batch, "causal");
    plan.flops_convention = "causal";
  } else {
    plan.samples_per_step = w.global_batch;
    plan.flops_per_step = double(w.global_batch) * resnet_training_flops(w.resnet);
    plan.flops_convention = "conv+fc, no first input gradient";
  }
  plan.memory = plan_memory(resolved, plan);
  set_peak(plan, w.precision, device_name, device_share);
  return plan;
}

}  // namespace erg
