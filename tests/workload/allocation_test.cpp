// A step allocates nothing after the first: every malloc and operator new of this process is counted on every thread, those of the
// engine's plugin and of OpenMP included. oneDNN's calls take a map of their arguments and give it back: those few dozen bytes a
// call are not ours to avoid, so what it allocates itself is held to that size instead.
#include <gtest/gtest.h>
#include <link.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include "support.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ERG_COUNTS_ALLOCATIONS 0  // a sanitizer has its own malloc
#else
#define ERG_COUNTS_ALLOCATIONS 1
#endif

namespace {

constexpr size_t argument_map_bytes = 256;
std::atomic<long> allocations{0};
std::atomic<uintptr_t> onednn_begin{0}, onednn_end{0};  // where its code lies, once it is loaded

void find_onednn() {
  dl_iterate_phdr(
      [](dl_phdr_info* library, size_t, void*) {
        if (!std::strstr(library->dlpi_name, "libdnnl")) return 0;
        for (int i = 0; i < library->dlpi_phnum; ++i) {
          const auto& part = library->dlpi_phdr[i];
          if (part.p_type != PT_LOAD || !(part.p_flags & PF_X)) continue;
          onednn_begin = library->dlpi_addr + part.p_vaddr;
          onednn_end = onednn_begin + part.p_memsz;
        }
        return 1;
      },
      nullptr);
}

[[maybe_unused]] void count(size_t bytes, void* caller) {
  const auto address = reinterpret_cast<uintptr_t>(caller);
  const bool argument_map = bytes <= argument_map_bytes && onednn_begin <= address && address < onednn_end;
  if (!argument_map) ++allocations;
}

}  // namespace

#if ERG_COUNTS_ALLOCATIONS
// The C library's own functions under their second names.
extern "C" {
void* __libc_malloc(size_t);
void __libc_free(void*);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t bytes) {
  count(bytes, __builtin_return_address(0));
  return __libc_malloc(bytes);
}
void* calloc(size_t n, size_t bytes) {
  count(n * bytes, __builtin_return_address(0));
  return __libc_calloc(n, bytes);
}
void* realloc(void* p, size_t bytes) {
  count(bytes, __builtin_return_address(0));
  return __libc_realloc(p, bytes);
}
void* memalign(size_t alignment, size_t bytes) {
  count(bytes, __builtin_return_address(0));
  return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  count(bytes, __builtin_return_address(0));
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** p, size_t alignment, size_t bytes) {
  count(bytes, __builtin_return_address(0));
  *p = __libc_memalign(alignment, bytes);
  return *p ? 0 : ENOMEM;
}
}

void* operator new(size_t bytes) {
  count(bytes, __builtin_return_address(0));
  if (void* p = __libc_malloc(bytes)) return p;
  throw std::bad_alloc();
}
void* operator new(size_t bytes, std::align_val_t alignment) {
  count(bytes, __builtin_return_address(0));
  if (void* p = __libc_memalign(size_t(alignment), bytes)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { __libc_free(p); }
void operator delete(void* p, size_t) noexcept { __libc_free(p); }
void operator delete(void* p, std::align_val_t) noexcept { __libc_free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { __libc_free(p); }
#endif

namespace erg::test {
namespace {

class Allocations : public ::testing::TestWithParam<DType> {
 protected:
  void SetUp() override {
    if (!ERG_COUNTS_ALLOCATIONS) GTEST_SKIP() << "a sanitizer has its own malloc";
  }
  static void expect_none(const Spec& spec) {
    ERG_OPEN_ENGINE(engine, "cpu", GetParam());
    find_onednn();
    const auto workload = prepared(spec, *engine, fixed_batches(spec.workload));
    workload->step();
    const long before = allocations;
    for (int step = 0; step < 3; ++step) workload->step();
    const long after = allocations;
    EXPECT_EQ(after - before, 0) << "allocations in three steps";
    EXPECT_GT(before, 0) << "the counter works";
  }
};

TEST_P(Allocations, NoneInGptSteps) {
  Spec spec = tiny_gpt(GetParam());
  spec.workload.micro_batch = 2;
  expect_none(spec);
}

TEST_P(Allocations, NoneInResNetSteps) { expect_none(tiny_resnet(GetParam())); }

INSTANTIATE_TEST_SUITE_P(Precisions, Allocations, ::testing::Values(DType::f32, DType::bf16),
                         [](const auto& info) { return std::string(erg::name_of(info.param)); });

}  // namespace
}  // namespace erg::test
