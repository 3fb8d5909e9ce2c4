// Values that must agree with each other, and what this build can run. Each check names the key at fault as the error's where().
#include <fmt/format.h>

#include "core/error.hpp"
#include "spec/names.hpp"

namespace erg {
namespace {

template <class... Values>
void require(bool holds, const char* key, const std::string& fix, fmt::format_string<Values...> message, Values&&... values) {
  if (!holds) throw Error(ErrorKind::usage, fmt::format(message, std::forward<Values>(values)...), key, fix);
}

void validate_gpt(const Spec& spec, int64_t micro_batches) {
  const GptShape& g = spec.workload.gpt;
  const LayoutSpec& l = spec.layout;
  require(g.hidden % g.heads == 0, "workload.heads", "", "hidden {} is not divisible by {} heads", g.hidden, g.heads);
  require(g.positions != Positions::rope || g.hidden / g.heads % 2 == 0, "workload.positions", "", "rope needs an even head size, not {}",
          g.hidden / g.heads);
  require(g.padded_vocabulary >= g.vocabulary, "workload.vocabulary", "", "the padded vocabulary {} is smaller than {}",
          g.padded_vocabulary, g.vocabulary);
  require(g.heads % l.tp == 0 && g.ffn % l.tp == 0 && g.padded_vocabulary % l.tp == 0, "layout.tp", "",
          "heads {}, ffn {} and padded vocabulary {} must all be divisible by tp {}", g.heads, g.ffn, g.padded_vocabulary, l.tp);
  require(g.layers % (l.pp * l.interleave) == 0, "layout.pp", "", "{} layers cannot be split into {} stages of {} chunks", g.layers, l.pp,
          l.interleave);
  require(l.interleave == 1 || l.pp > 1, "layout.interleave", "set layout.pp above 1", "interleaving needs pipeline stages");
  require(l.interleave == 1 || micro_batches % l.pp == 0, "layout.interleave", "",
          "interleaving needs micro-batches ({}) in multiples of pp {}", micro_batches, l.pp);
  require(!l.sequence_parallel || (l.tp > 1 && g.sequence % l.tp == 0), "layout.sequence_parallel", "",
          "sequence parallelism needs tp above 1 that divides the sequence {}", g.sequence);
}

}  // namespace

void validate(const Spec& spec) {
  const WorkloadSpec& w = spec.workload;
  const int64_t model_parallel = spec.layout.tp * spec.layout.pp;
  require(spec.devices % model_parallel == 0, "devices", "", "{} devices cannot be split into tp {} x pp {}", spec.devices, spec.layout.tp,
          spec.layout.pp);
  const int64_t dp = spec.devices / model_parallel;
  require(w.global_batch % dp == 0, "workload.global_batch", "", "global batch {} is not divisible by data-parallel size {}",
          w.global_batch, dp);
  const int64_t per_rank = w.global_batch / dp, micro_batch = w.micro_batch > 0 ? w.micro_batch : per_rank;
  require(per_rank % micro_batch == 0, "workload.global_batch", "",
          "global batch {} is not divisible by data-parallel size {} x micro-batch {}", w.global_batch, dp, micro_batch);
  require(w.gradients != DType::bf16 || (w.precision != Precision::fp32 && w.precision != Precision::tf32), "workload.gradients",
          "set it to fp32", "gradients in bf16 need a 16-bit precision, not {}", name_of(w.precision));
  const OptimizerSpec& o = w.optimizer;
  require(o.total_steps == 0 || o.warmup_steps <= o.total_steps, "workload.warmup_steps", "",
          "warm-up of {} steps is longer than all {} steps", o.warmup_steps, o.total_steps);
  if (w.kind == WorkloadKind::gpt) validate_gpt(spec, per_rank / micro_batch);
  if (w.kind == WorkloadKind::resnet50)
    require(w.resnet.blocks.size() == 4, "workload.blocks", "", "a ResNet has 4 stages of blocks, not {}", w.resnet.blocks.size());
}

void validate_runnable(const Spec& spec) {
  const LayoutSpec& l = spec.layout;
  const Precision p = spec.workload.precision;
  const std::string later = "it can be written and planned, and runs in a later version";
  require(spec.workload.kind != WorkloadKind::external, "workload.kind", later, "this build does not run external workloads yet");
  require(p != Precision::tf32 && p != Precision::fp16, "workload.precision", "use auto, fp32 or bf16",
          "this build does not train in {} yet", name_of(p));
  require(spec.devices == 1, "devices", later, "this build runs on one device, not {}, yet", spec.devices);
  require(l.tp == 1, "layout.tp", later, "this build has no tensor parallelism (tp {}) yet", l.tp);
  require(l.pp == 1 && l.interleave == 1, "layout.pp", later, "this build has no pipeline parallelism (pp {}) yet", l.pp);
  require(!l.sequence_parallel, "layout.sequence_parallel", later, "this build has no sequence parallelism yet");
  require(l.recompute == Recompute::none, "layout.recompute", later, "this build does not recompute activations ({}) yet",
          name_of(l.recompute));
}

}  // namespace erg
