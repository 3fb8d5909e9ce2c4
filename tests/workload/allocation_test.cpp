// A step allocates nothing after the first: every malloc and operator new of this process is counted, those of the engine's plugin,
// oneDNN and OpenMP included, on every thread.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>

#include "support.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define ERG_COUNTS_ALLOCATIONS 0  // the sanitizer has its own malloc
#else
#define ERG_COUNTS_ALLOCATIONS 1
#endif

namespace {
std::atomic<long> allocations{0};
}

#if ERG_COUNTS_ALLOCATIONS
// The C library's own functions under their second names; operator new of libstdc++ calls malloc.
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t n) {
  ++allocations;
  return __libc_malloc(n);
}
void* calloc(size_t n, size_t size) {
  ++allocations;
  return __libc_calloc(n, size);
}
void* realloc(void* p, size_t n) {
  ++allocations;
  return __libc_realloc(p, n);
}
void* memalign(size_t alignment, size_t n) {
  ++allocations;
  return __libc_memalign(alignment, n);
}
void* aligned_alloc(size_t alignment, size_t n) { return memalign(alignment, n); }
int posix_memalign(void** p, size_t alignment, size_t n) {
  *p = memalign(alignment, n);
  return *p ? 0 : 12;  // ENOMEM
}
}
#endif

namespace erg::test {
namespace {

class Allocations : public ::testing::TestWithParam<DType> {
 protected:
  void SetUp() override {
    if (!ERG_COUNTS_ALLOCATIONS) GTEST_SKIP() << "the address sanitizer has its own malloc";
  }
  static void expect_none(const Spec& spec) {
    ERG_OPEN_ENGINE(engine, "cpu", GetParam());
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
