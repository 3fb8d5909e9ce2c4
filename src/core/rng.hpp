// Random numbers made by a formula of (seed, stream, index): the same on every machine, thread count and language.
// tools/make_reference.py has the same formula in NumPy, so that PyTorch starts from the same weights and data.
#pragma once
#include <cmath>
#include <cstdint>

namespace erg {

// SplitMix64's finaliser (Steele, Lea, Flood 2014): a bijection of 64 bits.
constexpr uint64_t mix64(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}
// 64 random bits at position `index` of `stream`.
constexpr uint64_t random_bits(uint64_t seed, uint64_t stream, uint64_t index) {
  const uint64_t key = mix64(seed * 0x9e3779b97f4a7c15ull + mix64(stream + 0x632be59bd9b4e019ull));
  return mix64(key + index * 0x9e3779b97f4a7c15ull);
}
// Uniform in [0, 1): the top 24 bits, exact in fp32.
constexpr float random_uniform(uint64_t seed, uint64_t stream, uint64_t index) {
  return float(random_bits(seed, stream, index) >> 40) * 0x1p-24f;
}
// Uniform with mean 0 and the given standard deviation: (2u - 1) * float(std * sqrt(3)), each operation in fp32.
// Initial weights are drawn from it: same variance as the papers' normals, and the same bits in NumPy.
inline float random_centered(uint64_t seed, uint64_t stream, uint64_t index, double std) {
  return (2.0f * random_uniform(seed, stream, index) - 1.0f) * float(std * std::sqrt(3.0));
}

}  // namespace erg
