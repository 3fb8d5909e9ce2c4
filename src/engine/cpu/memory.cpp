// Memory of the CPU engine: zeroed by the threads that will use it, aligned, counted. Large buffers lie on huge pages, which saves the
// hundreds of thousands of page faults and TLB misses that activations of hundreds of megabytes cost.
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "core/error.hpp"
#include "core/units.hpp"
#include "engine/cpu/engine.hpp"
#include "engine/cpu/machine.hpp"

namespace erg {
namespace {

constexpr int64_t line = 64, huge_page = 2 << 20;

// What stays free for our smaller buffers and the rest of the machine: less in a small container.
int64_t kept_free(int64_t available) { return std::min<int64_t>(512 << 20, available / 8); }

int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

void zero(void* data, int64_t bytes) {
  constexpr int64_t chunk = 1 << 20;
  const int64_t chunks = (bytes + chunk - 1) / chunk;
  if (chunks <= 1) {  // not by an `if` clause: a team of one would take the place of the one libgomp keeps
    std::memset(data, 0, size_t(bytes));
    return;
  }
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < chunks; ++i) std::memset(static_cast<char*>(data) + i * chunk, 0, size_t(std::min(chunk, bytes - i * chunk)));
}

// Fresh memory from the kernel is zero already; the threads that will use it touch its pages, so that no step pays for them.
void touch(void* data, int64_t bytes) {
  constexpr int64_t page = 4096;
  volatile char* const bytes_of_pages = static_cast<char*>(data);
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < bytes; i += page) bytes_of_pages[i] = 0;
}

class CpuBuffer final : public Buffer {
 public:
  CpuBuffer(std::shared_ptr<HostMemory::Usage> usage, int64_t bytes, const std::string& purpose) : usage_(std::move(usage)), bytes_(bytes) {
    if (bytes >= huge_page)
      map(purpose);
    else
      take(purpose);
    const int64_t now = usage_->now += bytes_;
    if (now > usage_->peak) usage_->peak = now;
  }
  ~CpuBuffer() override {
    if (mapping_)
      munmap(mapping_, mapped_);
    else
      std::free(data_);
    usage_->now -= bytes_;
  }
  CpuBuffer(const CpuBuffer&) = delete;
  CpuBuffer& operator=(const CpuBuffer&) = delete;

  void* data() const override { return data_; }
  int64_t bytes() const override { return bytes_; }

 private:
  void take(const std::string& purpose) {
    const int64_t taken = round_up(std::max<int64_t>(bytes_, 1), line);
    if (posix_memalign(&data_, size_t(line), size_t(taken)) != 0) refuse(purpose);
    zero(data_, taken);
  }

  void map(const std::string& purpose) {
    // Linux promises memory it does not have and kills us when it is touched; so look before.
    const int64_t available = available_memory();
    if (bytes_ > available - kept_free(available) || bytes_ > address_space_left() - library_space) refuse(purpose);
    mapped_ = size_t(bytes_ + huge_page);  // room to begin on a huge page
    mapping_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping_ == MAP_FAILED) refuse(purpose);
    data_ = reinterpret_cast<void*>(round_up(reinterpret_cast<int64_t>(mapping_), huge_page));
    madvise(data_, size_t(bytes_), MADV_HUGEPAGE);  // a wish; small pages work too
    touch(data_, bytes_);
  }

  [[noreturn]] void refuse(const std::string& purpose) const {
    throw Error(ErrorKind::out_of_memory,
                bytes_text(double(bytes_)) + " for " + purpose + " on top of " + bytes_text(double(usage_->now)) + " in use, where " +
                    bytes_text(double(std::min(available_memory(), address_space_left()))) + " are available",
                "engine cpu", "use a smaller micro-batch, a smaller network or recomputation");
  }

  std::shared_ptr<HostMemory::Usage> usage_;
  int64_t bytes_ = 0;
  void* data_ = nullptr;
  void* mapping_ = nullptr;  // of a large buffer: what data_ lies in
  size_t mapped_ = 0;
};

}  // namespace

std::unique_ptr<Buffer> CpuEngine::allocate(int64_t bytes, const std::string& purpose) {
  if (bytes < 0) throw Error(ErrorKind::failed, "a buffer of negative size was asked for: " + purpose, "engine cpu");
  return std::make_unique<CpuBuffer>(usage_, bytes, purpose);
}

void CpuEngine::fill_zero(const Tensor& t) { zero(t.data, t.bytes); }

}  // namespace erg
