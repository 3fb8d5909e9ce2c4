// An engine that makes nothing and a workload whose steps only let a fake clock advance: the measuring loop without training.
#pragma once
#include <functional>

#include "core/clock.hpp"
#include "core/error.hpp"
#include "engine/engine.hpp"
#include "workload/workload.hpp"

namespace erg::test {

class FakeEngine : public Engine {
 public:
  EngineInfo info() const override { return {"fake", "fake device", "none", "none", false, 1}; }
  bool supports(DType) const override { return true; }
  std::unique_ptr<Buffer> allocate(int64_t, const std::string&) override { throw nothing(); }
  int64_t storage_bytes(DType, const Shape&, Layout) const override { return 0; }
  int64_t memory_in_use() const override { return 0; }
  int64_t memory_peak() const override { return 0; }
  void reset_memory_peak() override {}
  void write(const Tensor&, const float*) override {}
  void write(const Tensor&, const int32_t*) override {}
  void read(const Tensor&, float*) override {}
  void fill_zero(const Tensor&) override {}
  void synchronize() override { ++synchronized; }
  std::unique_ptr<Op> conv_bn(const ConvBnDesc&) override { throw nothing(); }
  std::unique_ptr<Op> max_pool(const MaxPoolDesc&) override { throw nothing(); }
  std::unique_ptr<Op> global_avg_pool(const GlobalAvgPoolDesc&) override { throw nothing(); }
  std::unique_ptr<Op> linear(const LinearDesc&) override { throw nothing(); }
  std::unique_ptr<Op> residual_norm(const ResidualNormDesc&) override { throw nothing(); }
  std::unique_ptr<Op> attention(const AttentionDesc&) override { throw nothing(); }
  std::unique_ptr<Op> embedding(const EmbeddingDesc&) override { throw nothing(); }
  std::unique_ptr<ClassifierOp> classifier(const ClassifierDesc&) override { throw nothing(); }
  std::unique_ptr<OptimizerOp> optimizer() override { throw nothing(); }

  int synchronized = 0;

 private:
  static Error nothing() { return Error(ErrorKind::failed, "a fake engine makes nothing"); }
};

class FakeWorkload : public Workload {
 public:
  using Numbers = std::function<double(int64_t step)>;  // steps count from 0
  FakeWorkload(FakeClock& clock, Numbers step_s, Numbers loss) : clock_(clock), step_s_(std::move(step_s)), loss_(std::move(loss)) {}
  void prepare() override {}
  StepResult step() override {
    clock_.advance(step_s_(steps));
    ++steps;
    return {samples_per_step(), 0.001};
  }
  double read_loss() override { return loss_(steps - 1); }
  Validation validate(int64_t) override { return {}; }
  double flops_per_step() const override { return 1e9; }
  int64_t samples_per_step() const override { return 8; }
  const char* sample_unit() const override { return "images"; }
  std::vector<NamedNorm> gradient_norms() override { return {}; }

  int64_t steps = 0;

 private:
  FakeClock& clock_;
  Numbers step_s_, loss_;
};

}  // namespace erg::test
