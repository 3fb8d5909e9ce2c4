// The skewed distribution of all synthetic data: few values are frequent, most are rare, as words and subjects are.
// Made of integers only, so that it is the same on every machine.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

namespace erg {

// The octave [first, first + size) of values around `value`: 0, 1-2, 3-6, 7-14, ..., the last one cut at n.
struct Octave {
  int64_t first, size;
};
constexpr Octave octave_of(int64_t value, int64_t n) {
  const int64_t first = int64_t(std::bit_floor(uint64_t(value) + 1)) - 1;
  return {first, std::min(first + 1, n - first)};
}

// A value in [0, n) from 64 random bits. The octave is the lower of two uniform draws and the value uniform inside, so that frequency
// falls a little faster than Zipf's 1 / (value + 1).
constexpr int64_t skewed(uint64_t bits, int64_t n) {
  const uint64_t octaves = uint64_t(std::bit_width(uint64_t(n)));
  const uint64_t draw = std::min((bits & 0xffff) * octaves >> 16, (bits >> 16 & 0xffff) * octaves >> 16);
  const Octave octave = octave_of((int64_t(1) << draw) - 1, n);
  return octave.first + int64_t((bits >> 32) * uint64_t(octave.size) >> 32);
}

}  // namespace erg
