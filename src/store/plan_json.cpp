// The plan's numbers without its list of ops, which follows from the spec.
#include "store/plan_json.hpp"

namespace erg {

Json plan_json(const Plan& p) {
  return {{"precision", name_of(p.dtype)},
          {"mesh", {{"dp", p.mesh.dp}, {"tp", p.mesh.tp}, {"pp", p.mesh.pp}}},
          {"micro_batch", p.micro_batch},
          {"accumulation", p.accumulation},
          {"samples_per_step", p.samples_per_step},
          {"parameters", p.network.parameters},
          {"flops_per_step", p.flops_per_step},
          {"flops_convention", p.flops_convention},
          {"memory",
           {{"state_bytes", p.memory.state_bytes},
            {"activation_bytes", p.memory.activation_bytes},
            {"workspace_bytes", p.memory.workspace_bytes},
            {"total_bytes", p.memory.total_bytes()}}},
          {"peak_flops", p.peak_flops ? Json(*p.peak_flops) : Json(nullptr)},
          {"peak_source", p.peak_source}};
}

}  // namespace erg
