// The training step of GPT or ResNet-50 on any engine. Written once; the measuring loop sees only this.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "data/batches.hpp"
#include "engine/engine.hpp"
#include "plan/plan.hpp"
#include "spec/spec.hpp"

namespace erg {

struct StepResult {
  int64_t samples = 0;     // images or tokens trained on
  double data_wait_s = 0;  // time the step waited for its batch
};

struct Validation {
  double loss = 0;
  double top1 = 0;
  int64_t samples = 0;
};

class Workload {
 public:
  virtual ~Workload() = default;
  virtual void prepare() = 0;                              // ops, memory, initial weights: the init phase
  virtual StepResult step() = 0;                           // one optimizer step over the whole global batch; does not wait for the device
  virtual double read_loss() = 0;                          // mean loss of the last step: synchronises
  virtual Validation validate(int64_t micro_batches) = 0;  // on data held back, running statistics
  virtual double flops_per_step() const = 0;
  virtual int64_t samples_per_step() const = 0;
  virtual const char* sample_unit() const = 0;             // "images" or "tokens"
  virtual const Batches* data() const { return nullptr; }  // what feeds it; null: nothing does

  // For tests and the check phase.
  struct NamedNorm {
    std::string name;
    double norm;
  };
  virtual std::vector<NamedNorm> gradient_norms() = 0;  // of the last step, per parameter tensor, logical values
};

// `batches` feeds it; null: made from spec (synthetic or files).
std::unique_ptr<Workload> make_workload(const Spec& spec, const Plan& plan, Engine& engine, std::unique_ptr<Batches> batches = nullptr);

// METHOD §1 check phase: three steps on the small fixed batch, and what the reference file says of them.
struct CheckResult {
  enum class Verdict { passed, failed, unverified } verdict = Verdict::unverified;
  std::vector<double> losses, reference;
  double worst_relative = 0, tolerance = 0;
  std::string detail;
};
CheckResult check_workload(const Spec& spec, DType dtype, Engine& engine);
// The key under which reference losses are stored: the architecture and what else decides the small batch's loss, which are the
// vocabulary that tokens are drawn from and min(64, sequence).
// "gpt-L12-h768-a12-f3072-v50257-V50304-learned-s64", "resnet-3.4.6.3-w64-i224-c1000"
std::string reference_key(const Spec& spec);

}  // namespace erg
