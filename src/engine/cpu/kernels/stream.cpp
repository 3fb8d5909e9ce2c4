// A cache line is 16 values: every thread has whole lines, and the last thread what remains.
#include "engine/cpu/kernels/stream.hpp"

#include <omp.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "engine/cpu/kernels/vector.hpp"

namespace erg::ERG_ISA {
namespace {

using Line = F<16>;

[[gnu::always_inline]] inline void store_past_cache(float* to, Line line) {
#if defined(__AVX512F__)
  _mm512_stream_ps(to, (__m512)line);
#elif defined(__AVX__)
  __m256 halves[2];
  std::memcpy(halves, &line, sizeof line);
  _mm256_stream_ps(to, halves[0]);
  _mm256_stream_ps(to + 8, halves[1]);
#elif defined(__x86_64__)
  __m128 quarters[4];
  std::memcpy(quarters, &line, sizeof line);
  for (int i = 0; i < 4; ++i) _mm_stream_ps(to + 4 * i, quarters[i]);
#else
  std::memcpy(to, &line, sizeof line);
#endif
}

// Non-temporal stores are weakly ordered: they must be out before another thread reads.
[[gnu::always_inline]] inline void stores_are_out() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

struct Part {
  int64_t begin, end;
};
[[gnu::always_inline]] inline Part part_of(int64_t lines) {
  const int64_t threads = omp_get_num_threads(), me = omp_get_thread_num();
  return {lines * me / threads * 16, lines * (me + 1) / threads * 16};
}

// a[i] = value(i) by lines, then by single values.
template <class LineValue, class Value>
[[gnu::always_inline]] inline void write_all(float* a, int64_t count, LineValue line, Value value) {
  const int64_t lines = count / 16;
#pragma omp parallel
  {
    const Part p = part_of(lines);
    for (int64_t i = p.begin; i < p.end; i += 16) store_past_cache(a + i, line(i));
    stores_are_out();
  }
  for (int64_t i = lines * 16; i < count; ++i) a[i] = value(i);
}

void fill(float* a, float scalar, int64_t count) {
  const Line line = Line{} + scalar;
  write_all(
      a, count, [&](int64_t) { return line; }, [&](int64_t) { return scalar; });
}

void copy(float* a, const float* b, int64_t count) {
  write_all(
      a, count, [&](int64_t i) { return load_block<16>(b + i); }, [&](int64_t i) { return b[i]; });
}

void triad(float* a, const float* b, const float* c, float scalar, int64_t count) {
  write_all(
      a, count, [&](int64_t i) { return load_block<16>(b + i) + scalar * load_block<16>(c + i); },
      [&](int64_t i) { return b[i] + scalar * c[i]; });
}

double read(const float* b, int64_t count) {
  double total = 0;
#pragma omp parallel reduction(+ : total)
  {
    // Four sums, so that an addition need not wait for the one before it.
    const Part p = part_of(count / 64 * 4);
    Line sums[4] = {};
    int64_t i = p.begin;
    for (; i + 64 <= p.end; i += 64)
      for (int k = 0; k < 4; ++k) sums[k] += load_block<16>(b + i + 16 * k);
    for (; i < p.end; i += 16) sums[0] += load_block<16>(b + i);
    for (const Line& s : sums)
      for (int k = 0; k < 16; ++k) total += double(s[k]);
  }
  for (int64_t i = count / 64 * 64; i < count; ++i) total += double(b[i]);
  return total;
}

constexpr bool past_cache =
#if defined(__x86_64__)
    true;
#else
    false;
#endif

}  // namespace

const StreamKernels stream_kernels = {past_cache, fill, read, copy, triad};

}  // namespace erg::ERG_ISA
