// The CPU engine: one process's cores. Convolutions and matrix products are oneDNN's, everything between them is ours.
// The thread that opened it runs it: OpenMP's thread count belongs to that thread.
#pragma once
#include "engine/engine.hpp"
#include "engine/host_memory.hpp"

namespace erg {

class CpuEngine final : public Engine {
 public:
  explicit CpuEngine(const EngineOptions& options);

  EngineInfo info() const override;
  bool supports(DType activations) const override;
  int threads() const { return threads_; }

  std::unique_ptr<Buffer> allocate(int64_t bytes, const std::string& purpose) override;
  int64_t storage_bytes(DType dtype, const Shape& shape, Layout layout) const override;
  int64_t memory_in_use() const override { return usage_->now; }
  int64_t memory_peak() const override { return usage_->peak; }
  void reset_memory_peak() override { usage_->peak = usage_->now.load(); }

  void write(const Tensor& to, const float* from) override;
  void write(const Tensor& to, const int32_t* from) override;
  void read(const Tensor& from, float* to) override;
  void fill_zero(const Tensor& t) override;
  void add(const Tensor& to, const Tensor& what) override;
  double stream(StreamKind kind, const StreamArrays& arrays) override;
  void synchronize() override {}  // every op returns when it is done

  std::unique_ptr<Op> conv_bn(const ConvBnDesc&) override;
  std::unique_ptr<Op> bottleneck(const BottleneckDesc&) override;
  std::unique_ptr<Op> max_pool(const MaxPoolDesc&) override;
  std::unique_ptr<Op> global_avg_pool(const GlobalAvgPoolDesc&) override;
  std::unique_ptr<Op> linear(const LinearDesc&) override;
  std::unique_ptr<Op> residual_norm(const ResidualNormDesc&) override;
  std::unique_ptr<Op> attention(const AttentionDesc&) override;
  std::unique_ptr<Op> embedding(const EmbeddingDesc&) override;
  std::unique_ptr<ClassifierOp> classifier(const ClassifierDesc&) override;
  std::unique_ptr<OptimizerOp> optimizer() override;

 private:
  int threads_ = 1;
  std::shared_ptr<HostMemory::Usage> usage_ = std::make_shared<HostMemory::Usage>();  // shared with buffers, which may outlive us
};

}  // namespace erg
