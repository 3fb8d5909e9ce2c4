// In the steady state, next() and the prefetch threads allocate nothing: every call of operator new in this program is counted.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "data/batches.hpp"
#include "data/make_images.hpp"
#include "data/token_folder.hpp"
#include "sample_text.hpp"
#include "temporary_folder.hpp"

namespace {
std::atomic<int64_t> allocations = 0;
}

// Not inlined: the compiler would see malloc'ed memory go to delete and warn.
[[gnu::noinline]] void* operator new(size_t bytes) {
  ++allocations;
  if (void* p = std::malloc(bytes ? bytes : 1)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, size_t) noexcept { std::free(p); }

namespace erg {
namespace {

int64_t allocations_of_next(Batches& batches, int warm_up) {
  for (int i = 0; i < warm_up; ++i) {
    batches.next(Split::train);
    batches.next(Split::validation);
  }
  const int64_t before = allocations;
  for (int i = 0; i < 10; ++i) {
    batches.next(Split::train);
    batches.next(Split::validation);
  }
  return allocations - before;
}

TEST(Allocations, SyntheticBatchesMakeNone) {
  EXPECT_EQ(allocations_of_next(*synthetic_tokens({4, 32, 1000}, 1), 1), 0);
  EXPECT_EQ(allocations_of_next(*synthetic_images({4, 32, 10}, 1), 1), 0);
  EXPECT_EQ(allocations_of_next(*fixed_tokens({4, 32, 1000}, 1), 1), 0);
}

TEST(Allocations, TokenFilesMakeNone) {
  const TemporaryFolder folder;
  make_token_folder({{folder.write("a.txt", sample_text(2000))}, folder / "out", 320});
  EXPECT_EQ(allocations_of_next(*token_files(folder / "out", {4, 32, 320}, 1), 1), 0);
}

TEST(Allocations, ImageFoldersMakeNone) {
  const TemporaryFolder folder;
  make_image_folder({folder / "set", 2, 6, 64, 48});
  const auto batches = image_folder(folder / "set", {4, 32, 2}, 1, 2);
  // A buffer grows until each worker met the largest crop and file; with so few images that is soon.
  EXPECT_EQ(allocations_of_next(*batches, 200), 0);
}

}  // namespace
}  // namespace erg
