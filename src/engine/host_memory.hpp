// Host memory that knows how much of it is in use: what engines on the CPU allocate from.
#pragma once
#include <atomic>
#include <memory>
#include <string>

#include "engine/engine.hpp"

namespace erg {

// Buffers may outlive the HostMemory they came from.
class HostMemory {
 public:
  // Zeroed, 64-byte aligned. Throws Error(out_of_memory) naming the purpose and the sizes.
  std::unique_ptr<Buffer> allocate(int64_t bytes, const std::string& purpose);
  int64_t in_use() const { return usage_->now; }
  int64_t peak() const { return usage_->peak; }
  void reset_peak() { usage_->peak = usage_->now.load(); }

  struct Usage {
    std::atomic<int64_t> now{0}, peak{0};
  };

 private:
  std::shared_ptr<Usage> usage_ = std::make_shared<Usage>();
};

}  // namespace erg
