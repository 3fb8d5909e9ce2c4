// bf16 <-> fp32 inside kernels, written so that the compiler vectorises it. Only for kernels/*.cpp: everything lives in the
// namespace of the instruction set, so that no code for a newer machine leaks into functions that all machines run.
#pragma once
#include <cstdint>
#include <cstring>

namespace erg::ERG_ISA {

using bf16 = uint16_t;

[[gnu::always_inline]] inline float load(float x) { return x; }
[[gnu::always_inline]] inline float load(bf16 x) {
  const uint32_t u = uint32_t(x) << 16;
  float f;
  std::memcpy(&f, &u, 4);
  return f;
}

[[gnu::always_inline]] inline void store(float* to, float x) { *to = x; }
// Round to nearest even; NaN stays NaN.
[[gnu::always_inline]] inline void store(bf16* to, float x) {
  uint32_t u;
  std::memcpy(&u, &x, 4);
  const uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1)) >> 16;
  *to = bf16((u & 0x7fffffffu) > 0x7f800000u ? (u >> 16) | 0x40u : rounded);
}

}  // namespace erg::ERG_ISA
