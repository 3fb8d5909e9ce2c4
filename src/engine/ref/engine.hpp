// The reference engine: every op in plain loops, written as the formula in the textbook, on one thread. It is the truth that other
// engines are tested against. bf16 means bf16 in memory and fp32 in arithmetic, rounded where a fused engine stores to memory.
#pragma once
#include "engine/engine.hpp"
#include "engine/host_memory.hpp"

namespace erg::ref {

class RefEngine final : public Engine {
 public:
  EngineInfo info() const override;
  bool supports(DType activations) const override { return activations == DType::f32 || activations == DType::bf16; }

  std::unique_ptr<Buffer> allocate(int64_t bytes, const std::string& purpose) override { return memory_.allocate(bytes, purpose); }
  int64_t storage_bytes(DType dtype, const Shape& shape, Layout) const override {
    return elements(shape) * bytes_of(dtype);
  }  // images: NCHW
  int64_t memory_in_use() const override { return memory_.in_use(); }
  int64_t memory_peak() const override { return memory_.peak(); }
  void reset_memory_peak() override { memory_.reset_peak(); }

  void write(const Tensor& to, const float* from) override;
  void write(const Tensor& to, const int32_t* from) override;
  void read(const Tensor& from, float* to) override;
  void fill_zero(const Tensor& t) override;
  void synchronize() override {}

  std::unique_ptr<Op> conv_bn(const ConvBnDesc&) override;
  std::unique_ptr<Op> max_pool(const MaxPoolDesc&) override;
  std::unique_ptr<Op> global_avg_pool(const GlobalAvgPoolDesc&) override;
  std::unique_ptr<Op> linear(const LinearDesc&) override;
  std::unique_ptr<Op> residual_norm(const ResidualNormDesc&) override;
  std::unique_ptr<Op> attention(const AttentionDesc&) override;
  std::unique_ptr<Op> embedding(const EmbeddingDesc&) override;
  std::unique_ptr<ClassifierOp> classifier(const ClassifierDesc&) override;
  std::unique_ptr<OptimizerOp> optimizer() override;

 private:
  HostMemory memory_;
};

}  // namespace erg::ref
