// What the workload tests share: engines that may be missing, small specs, PyTorch's reference files, and fixed data in micro-batches.
#pragma once
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "workload/workload.hpp"

namespace erg::test {

// Opens it, or says on `why` what is missing: tests then skip with that reason. `ref` always opens.
std::unique_ptr<Engine> try_engine(const std::string& name, DType dtype, std::string& why);

Spec tiny_gpt(DType dtype = DType::f32);     // 2 layers of 64, sequence 32, 256 tokens; batch 4
Spec tiny_resnet(DType dtype = DType::f32);  // two stages of one block, width 16, 32 x 32, 10 classes; batch 8

// The fixed batch of the whole global batch, handed out micro-batch by micro-batch, for every split; the rows repeat every step.
std::unique_ptr<Batches> fixed_batches(const WorkloadSpec& workload);

struct Trained {
  std::vector<double> losses;
  std::map<std::string, double> first_norms;  // gradient norms of the first step by tensor
  Validation validation;                      // on the same batch, after the last step
};
Trained train(const Spec& spec, Engine& engine, int steps, std::unique_ptr<Batches> batches);
std::unique_ptr<Workload> prepared(const Spec& spec, Engine& engine, std::unique_ptr<Batches> batches = nullptr);

// tests/reference/NAME.json
struct TorchRun {
  std::vector<double> losses;
  std::map<std::string, double> norms;
  std::map<std::string, double> rounding;  // of each gradient: |g - g64| / |g64|
  double evaluation_loss = 0, evaluation_top1 = 0;
};
struct Reference {
  Spec spec;
  std::string key;
  bool check = false;
  std::map<std::string, TorchRun> runs;  // "fp32", "bf16"
};
Reference load_reference(const std::string& name);

}  // namespace erg::test

// Ends the test as skipped, with the reason, when the engine is not there or lacks the precision.
#define ERG_OPEN_ENGINE(engine, name, dtype)                                                    \
  std::string engine##_why;                                                                     \
  const std::unique_ptr<erg::Engine> engine = erg::test::try_engine(name, dtype, engine##_why); \
  if (!engine) GTEST_SKIP() << engine##_why
