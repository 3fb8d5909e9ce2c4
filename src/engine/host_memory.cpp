#include "engine/host_memory.hpp"

#include <cstdlib>
#include <cstring>

#include "core/error.hpp"
#include "core/units.hpp"

namespace erg {
namespace {

constexpr int64_t alignment = 64;

class HostBuffer final : public Buffer {
 public:
  HostBuffer(void* data, int64_t bytes, std::shared_ptr<HostMemory::Usage> usage) : data_(data), bytes_(bytes), usage_(std::move(usage)) {
    const int64_t now = usage_->now += bytes;
    int64_t peak = usage_->peak;
    while (now > peak && !usage_->peak.compare_exchange_weak(peak, now)) {}
  }
  ~HostBuffer() override {
    usage_->now -= bytes_;
    std::free(data_);
  }
  void* data() const override { return data_; }
  int64_t bytes() const override { return bytes_; }

 private:
  void* data_;
  int64_t bytes_;
  std::shared_ptr<HostMemory::Usage> usage_;
};

}  // namespace

std::unique_ptr<Buffer> HostMemory::allocate(int64_t bytes, const std::string& purpose) {
  if (bytes < 0) throw Error(ErrorKind::failed, "a buffer of negative size was asked for: " + purpose, "allocate");
  const size_t rounded = size_t((bytes + alignment - 1) / alignment * alignment);
  void* data = std::aligned_alloc(alignment, rounded ? rounded : size_t(alignment));
  if (!data)
    throw Error(ErrorKind::out_of_memory,
                bytes_text(double(bytes)) + " for " + purpose + " on top of " + bytes_text(double(in_use())) + " in use", "allocate",
                "use a smaller micro-batch, a smaller network or recomputation");
  std::memset(data, 0, rounded);
  return std::make_unique<HostBuffer>(data, bytes, usage_);
}

}  // namespace erg
