#include "support.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/file.hpp"

namespace erg::test {
namespace {

// Hands out slices of one batch, so that micro-batch m of a step is rows m x b to (m + 1) x b - 1 (docs/reference.md).
class SlicedBatches : public Batches {
 public:
  SlicedBatches(const HostBatch& whole, int64_t rows, int64_t micro_batch) {
    const auto slice = [&](const auto& from, int64_t part) {
      const int64_t row = int64_t(from.size()) / rows;
      return std::decay_t<decltype(from)>(from.begin() + part * micro_batch * row, from.begin() + (part + 1) * micro_batch * row);
    };
    for (int64_t part = 0; part < rows / micro_batch; ++part) {
      slices_.push_back({slice(whole.tokens, part), slice(whole.targets, part), slice(whole.pixels, part)});
    }
  }
  const HostBatch& next(Split split) override {
    size_t& position = position_[split == Split::train ? 0 : 1];
    return slices_[position++ % slices_.size()];
  }
  std::string describe() const override { return "slices of a fixed batch"; }
  bool real() const override { return false; }
  DataFacts facts() const override { return {"fixed", {}}; }
  DataPosition position() const override { return {}; }
  void seek(const DataPosition&) override {}

 private:
  std::vector<HostBatch> slices_;
  size_t position_[2] = {};
};

Precision precision_of(DType dtype) { return dtype == DType::f32 ? Precision::fp32 : Precision::bf16; }

}  // namespace

std::unique_ptr<Engine> try_engine(const std::string& name, DType dtype, std::string& why) {
  try {
    std::unique_ptr<Engine> engine = name == "ref" ? open_ref_engine({}) : open_engine(name);
    if (engine->supports(dtype)) return engine;
    why = name + " does not support " + std::string(name_of(dtype));
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::unavailable) throw;
    why = e.what();
  }
  return nullptr;
}

Spec tiny_gpt(DType dtype) {
  Spec spec;
  WorkloadSpec& w = spec.workload;
  w.kind = WorkloadKind::gpt;
  w.precision = precision_of(dtype);
  w.gpt = {2, 64, 4, 256, 256, 256, 32, Positions::learned};
  w.global_batch = 4;
  w.optimizer.learning_rate = 1e-3, w.optimizer.weight_decay = 0.1, w.optimizer.clip = 1;
  return spec;
}

Spec tiny_resnet(DType dtype) {
  Spec spec;
  WorkloadSpec& w = spec.workload;
  w.kind = WorkloadKind::resnet50;
  w.precision = precision_of(dtype);
  w.resnet = {32, 10, 16, {1, 1}};
  w.global_batch = 8;
  w.optimizer.learning_rate = 0.01, w.optimizer.weight_decay = 5e-5, w.optimizer.label_smoothing = 0.1;
  return spec;
}

std::unique_ptr<Batches> fixed_batches(const WorkloadSpec& w) {
  const int64_t micro_batch = w.micro_batch > 0 ? w.micro_batch : w.global_batch;
  const auto whole = w.kind == WorkloadKind::gpt ? fixed_tokens({w.global_batch, w.gpt.sequence, w.gpt.vocabulary}, w.seed)
                                                 : fixed_images({w.global_batch, w.resnet.image_size, w.resnet.classes}, w.seed);
  return std::make_unique<SlicedBatches>(whole->next(Split::train), w.global_batch, micro_batch);
}

std::unique_ptr<Workload> prepared(const Spec& spec, Engine& engine, std::unique_ptr<Batches> batches) {
  const Plan plan = make_plan(spec, engine.info().native_bf16);
  auto workload = make_workload(spec, plan, engine, std::move(batches));
  workload->prepare();
  return workload;
}

Trained train(const Spec& spec, Engine& engine, int steps, std::unique_ptr<Batches> batches) {
  const auto workload = prepared(spec, engine, std::move(batches));
  Trained result;
  for (int step = 0; step < steps; ++step) {
    workload->step();
    result.losses.push_back(workload->read_loss());
    if (step > 0) continue;
    for (const auto& [name, norm] : workload->gradient_norms()) result.first_norms[name] = norm;
  }
  const WorkloadSpec& w = spec.workload;
  result.validation = workload->validate(w.micro_batch > 0 ? w.global_batch / w.micro_batch : 1);
  return result;
}

Reference load_reference(const std::string& name) {
  const auto json = nlohmann::json::parse(read_file(std::string(ERG_SOURCE_DIR) + "/tests/reference/" + name + ".json"));
  Reference reference;
  reference.key = json.at("key");
  reference.check = json.at("check");
  WorkloadSpec& w = reference.spec.workload;
  const auto& shape = json.at("shape");
  if (json.at("workload") == "gpt") {
    w.kind = WorkloadKind::gpt;
    w.gpt = {shape.at("layers"),     shape.at("hidden"),
             shape.at("heads"),      shape.at("ffn"),
             shape.at("vocabulary"), shape.at("padded_vocabulary"),
             shape.at("sequence"),   shape.at("positions") == "rope" ? Positions::rope : Positions::learned};
  } else {
    w.kind = WorkloadKind::resnet50;
    w.resnet = {shape.at("image_size"), shape.at("classes"), shape.at("width"), shape.at("blocks")};
  }
  w.global_batch = json.at("global_batch");
  w.micro_batch = json.at("micro_batch");
  w.seed = json.at("seed");
  const auto& o = json.at("optimizer");
  w.optimizer = {};
  w.optimizer.learning_rate = o.at("learning_rate");
  w.optimizer.weight_decay = o.at("weight_decay");
  w.optimizer.momentum = o.value("momentum", w.optimizer.momentum);
  w.optimizer.beta1 = o.value("beta1", w.optimizer.beta1);
  w.optimizer.beta2 = o.value("beta2", w.optimizer.beta2);
  w.optimizer.epsilon = o.value("epsilon", w.optimizer.epsilon);
  w.optimizer.clip = o.value("clip", 0.0);
  w.optimizer.label_smoothing = o.value("label_smoothing", 0.0);
  for (const char* precision : {"fp32", "bf16"}) {
    const auto& run = json.at(precision);
    reference.runs[precision] = {run.at("losses"), run.at("gradient_norms"), run.at("gradient_rounding"), run.at("evaluation").at("loss"),
                                 run.at("evaluation").at("top1")};
  }
  return reference;
}

}  // namespace erg::test
