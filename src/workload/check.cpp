// The check phase (METHOD §1): three steps on a small fixed batch, held against PyTorch's losses from the same weights and data.
// docs/reference.md is the contract both sides follow.
#include "workload/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace erg {
namespace {

struct Reference {
  std::string_view key, precision;
  double losses[3];  // of steps 1, 2 and 3
  double tolerance;  // relative
};

constexpr Reference references[] = {
#include "workload/reference_losses.inc"
};

constexpr uint64_t reference_seed = 1;
constexpr int64_t longest_sequence = 64;

// The architecture of the spec, trained on the small batch with the optimizer of the references.
Spec small_spec(const Spec& spec, DType dtype) {
  Spec small = spec;
  small.devices = 1;
  small.layout = {};
  WorkloadSpec& w = small.workload;
  w.precision = dtype == DType::f32 ? Precision::fp32 : Precision::bf16;
  w.seed = reference_seed;
  w.micro_batch = 0;
  w.optimizer = {};
  if (w.kind == WorkloadKind::gpt) {
    w.global_batch = 2;
    w.gpt.sequence = std::min(w.gpt.sequence, longest_sequence);
    w.optimizer.learning_rate = 1e-4, w.optimizer.weight_decay = 0.1, w.optimizer.clip = 1;
  } else {
    w.global_batch = 4;
    w.optimizer.learning_rate = 2e-4, w.optimizer.weight_decay = 5e-5, w.optimizer.label_smoothing = 0.1;
  }
  return small;
}

std::unique_ptr<Batches> fixed_batches(const WorkloadSpec& w) {
  if (w.kind == WorkloadKind::gpt) return fixed_tokens({w.global_batch, w.gpt.sequence, w.gpt.vocabulary}, w.seed);
  return fixed_images({w.global_batch, w.resnet.image_size, w.resnet.classes}, w.seed);
}

std::vector<double> train_three_steps(const Spec& spec, Engine& engine) {
  const Plan plan = make_plan(spec, engine.info().native_bf16);
  const std::unique_ptr<Workload> workload = make_workload(spec, plan, engine, fixed_batches(spec.workload));
  workload->prepare();
  std::vector<double> losses;
  for (int step = 0; step < 3; ++step) {
    workload->step();
    losses.push_back(workload->read_loss());
  }
  return losses;
}

}  // namespace

int64_t softmax_classes(const WorkloadSpec& w) { return w.kind == WorkloadKind::gpt ? w.gpt.padded_vocabulary : w.resnet.classes; }

bool is_untrained_loss(double loss, double classes) {
  const double logarithm = std::log(classes);
  return std::abs(loss - logarithm) <= 0.5 + 0.25 * logarithm;
}

std::string reference_key(const Spec& spec) {
  const WorkloadSpec& w = spec.workload;
  if (w.kind == WorkloadKind::gpt) {
    const GptShape& g = w.gpt;
    return fmt::format("gpt-L{}-h{}-a{}-f{}-v{}-V{}-{}-s{}", g.layers, g.hidden, g.heads, g.ffn, g.vocabulary, g.padded_vocabulary,
                       name_of(g.positions), std::min(g.sequence, longest_sequence));
  }
  const ResNetShape& r = w.resnet;
  return fmt::format("resnet-{}-w{}-i{}-c{}", fmt::join(r.blocks, "."), r.width, r.image_size, r.classes);
}

CheckResult judge_losses(const Spec& spec, DType dtype, std::vector<double> losses) {
  CheckResult result;
  result.losses = std::move(losses);
  const int64_t classes = softmax_classes(spec.workload);
  if (!is_untrained_loss(result.losses[0], double(classes))) {
    result.verdict = CheckResult::Verdict::failed;
    result.detail = fmt::format("the first loss is {:.4f}, far from ln {} = {:.4f}", result.losses[0], classes, std::log(double(classes)));
    return result;
  }
  const std::string key = reference_key(spec);
  const auto reference = std::find_if(std::begin(references), std::end(references),
                                      [&](const Reference& r) { return r.key == key && r.precision == name_of(dtype); });
  if (reference == std::end(references)) {
    result.detail = fmt::format("no reference losses are stored for {} in {}", key, name_of(dtype));
    return result;
  }
  result.reference.assign(std::begin(reference->losses), std::end(reference->losses));
  result.tolerance = reference->tolerance;
  bool within = true;
  for (size_t step = 0; step < 3; ++step) {
    const double relative = std::abs(result.losses[step] / result.reference[step] - 1);
    within = within && relative <= result.tolerance;  // false for what is not a number
    result.worst_relative = std::max(result.worst_relative, relative);
  }
  result.verdict = within ? CheckResult::Verdict::passed : CheckResult::Verdict::failed;
  result.detail = fmt::format("losses {:.6g}, reference {:.6g}: {:.1e} apart, {:.0e} allowed", fmt::join(result.losses, " "),
                              fmt::join(result.reference, " "), result.worst_relative, result.tolerance);
  return result;
}

CheckResult check_workload(const Spec& spec, DType dtype, Engine& engine) {
  return judge_losses(spec, dtype, train_three_steps(small_spec(spec, dtype), engine));
}

}  // namespace erg
