// The C library's allocation functions under their second names, behind ones that count. Defined in the test program, they take the
// place of malloc and operator new in every library of the process, plugins included.
#include "allocations.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

std::atomic<bool> counting{false};
std::atomic<long> allocations{0};
std::atomic<void*> first_caller{nullptr};
std::atomic<size_t> first_bytes{0};

// oneDNN copies the argument list of a primitive on each call, a few hundred bytes in its own code that nothing outside can keep.
// Anything larger, such as a scratchpad, counts.
constexpr size_t argument_list_bytes = 4096;
bool is_argument_list(void* caller, size_t bytes) {
  Dl_info info;
  return bytes <= argument_list_bytes && dladdr(caller, &info) && info.dli_fname && std::strstr(info.dli_fname, "libdnnl");
}

[[maybe_unused]] void count(void* caller, size_t bytes) {
  if (!counting || is_argument_list(caller, bytes)) return;
  if (allocations++ == 0) first_caller = caller, first_bytes = bytes;
}

}  // namespace

#if !defined(__SANITIZE_ADDRESS__)
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t n) { return count(__builtin_return_address(0), n), __libc_malloc(n); }
void* calloc(size_t n, size_t size) { return count(__builtin_return_address(0), n * size), __libc_calloc(n, size); }
void* realloc(void* p, size_t n) { return count(__builtin_return_address(0), n), __libc_realloc(p, n); }
void* memalign(size_t alignment, size_t n) { return count(__builtin_return_address(0), n), __libc_memalign(alignment, n); }
void* aligned_alloc(size_t alignment, size_t n) { return count(__builtin_return_address(0), n), __libc_memalign(alignment, n); }
int posix_memalign(void** p, size_t alignment, size_t n) {
  count(__builtin_return_address(0), n);
  *p = __libc_memalign(alignment, n);
  return *p ? 0 : 12;  // ENOMEM
}
}

// libstdc++'s would call malloc too, but then the caller would be libstdc++ and not who asked.
void* operator new(size_t n) {
  count(__builtin_return_address(0), n);
  if (void* p = __libc_malloc(n ? n : 1)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
#endif

namespace erg::test {

bool allocations_are_counted() {
#if defined(__SANITIZE_ADDRESS__)
  return false;
#else
  return true;
#endif
}

AllocationCount::AllocationCount() {
  allocations = 0;
  first_caller = nullptr;
  counting = true;
}
AllocationCount::~AllocationCount() { counting = false; }

long AllocationCount::count() const { return allocations; }

std::string AllocationCount::first() const {
  counting = false;
  Dl_info info;
  if (!first_caller || !dladdr(first_caller, &info)) return "unknown";
  return std::string(info.dli_sname ? info.dli_sname : "?") + " in " + info.dli_fname + ", " + std::to_string(first_bytes) + " bytes";
}

}  // namespace erg::test
