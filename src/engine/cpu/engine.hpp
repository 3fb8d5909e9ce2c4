// The CPU engine: one process's cores. Convolutions and matrix products are oneDNN's, everything between them is ours.
// The thread that opened it runs it: OpenMP's thread count belongs to that thread.
#pragma once
#include <atomic>

#include "engine/engine.hpp"

namespace erg {

class CpuEngine final : public Engine {
 public:
  explicit CpuEngine(const EngineOptions& options);

  EngineInfo info() const override;
  bool supports(DType activations) const override;
  int threads() const { return threads_; }

  std::unique_ptr<Buffer> allocate(int64_t bytes, const std::string& purpose) override;
  int64_t storage_bytes(DType dtype, const Shape& shape, Layout layout) const override;
  int64_t memory_in_use() const override { return in_use_; }
  int64_t memory_peak() const override { return peak_; }
  void reset_memory_peak() override { peak_ = in_use_.load(); }

  void write(const Tensor& to, const float* from) override;
  void write(const Tensor& to, const int32_t* from) override;
  void read(const Tensor& from, float* to) override;
  void fill_zero(const Tensor& t) override;
  void synchronize() override {}                  // every op returns when it is done

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
  friend class CpuBuffer;
  int threads_ = 1;
  std::atomic<int64_t> in_use_{0}, peak_{0};
};

}  // namespace erg
