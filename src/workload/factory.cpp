// From a spec to the workload that trains it, and to the data that feeds it.
#include <fmt/format.h>

#include <filesystem>

#include "core/error.hpp"
#include "data/token_source.hpp"
#include "workload/training.hpp"

namespace erg {
namespace {

// A folder whose ids do not fit the network can't be trained on; one with fewer leaves rows unused, which is allowed.
void require_fit(const std::string& folder, int64_t in_data, int64_t in_spec, const char* what, const char* key) {
  if (in_data <= in_spec) return;
  throw Error(ErrorKind::usage, fmt::format("{} has {} {}, the spec {}", folder, in_data, what, in_spec), fmt::format("workload.{}", key),
              fmt::format("--set workload.{}={}", key, in_data));
}

std::unique_ptr<Batches> make_batches(const WorkloadSpec& w, int64_t micro_batch) {
  const bool synthetic = w.data == "synthetic";
  if (w.kind == WorkloadKind::gpt) {
    const TextShape shape{micro_batch, w.gpt.sequence, w.gpt.vocabulary};
    if (synthetic) return synthetic_tokens(shape, w.seed);
    // Folders name their vocabulary; of other token files every id is checked as it is read.
    for (const auto& [weight, place] : parse_blend(w.data))
      if (std::error_code nothing_there; std::filesystem::is_directory(place, nothing_there))
        require_fit(place, token_vocabulary(place), w.gpt.vocabulary, "tokens in its vocabulary", "vocabulary");
    return token_files(w.data, shape, w.seed);
  }
  const ImageShape shape{micro_batch, w.resnet.image_size, w.resnet.classes};
  if (synthetic) return synthetic_images(shape, w.seed);
  require_fit(w.data, image_classes(w.data), w.resnet.classes, "classes", "classes");
  return image_folder(w.data, shape, w.seed, int(w.workers));
}

}  // namespace

std::unique_ptr<Workload> make_workload(const Spec& spec, const Plan& plan, Engine& engine, std::unique_ptr<Batches> batches) {
  const WorkloadSpec& w = spec.workload;
  if (w.kind == WorkloadKind::external) {
    throw Error(ErrorKind::usage, "an external command is not trained by an engine", "workload.kind", "use \"gpt\" or \"resnet50\"");
  }
  if (!engine.supports(plan.dtype)) {
    throw Error(ErrorKind::unavailable, fmt::format("{} does not train in {}", engine.info().name, name_of(plan.dtype)),
                "workload.precision", "--set workload.precision=fp32");
  }
  if (!batches) batches = make_batches(w, plan.micro_batch);
  auto make = w.kind == WorkloadKind::gpt ? make_gpt : make_resnet;
  return make(spec, plan, engine, std::move(batches));
}

}  // namespace erg
