// Element types of tensors, and bfloat16 on the host (round to nearest even, as the hardware does).
#pragma once
#include <bit>
#include <cstdint>
#include <string_view>

namespace erg {

enum class DType { f32, bf16, f16, i32, u8 };

constexpr int64_t bytes_of(DType t) {
  switch (t) {
    case DType::f32:
    case DType::i32: return 4;
    case DType::bf16:
    case DType::f16: return 2;
    case DType::u8: return 1;
  }
  return 0;
}
constexpr std::string_view name_of(DType t) {
  switch (t) {
    case DType::f32: return "fp32";
    case DType::bf16: return "bf16";
    case DType::f16: return "fp16";
    case DType::i32: return "int32";
    case DType::u8: return "uint8";
  }
  return "?";
}

using bf16_bits = uint16_t;  // a bfloat16 as it lies in memory

constexpr float to_float(bf16_bits b) { return std::bit_cast<float>(uint32_t(b) << 16); }
constexpr bf16_bits to_bf16(float f) {
  uint32_t u = std::bit_cast<uint32_t>(f);
  if ((u & 0x7fffffffu) > 0x7f800000u) return bf16_bits((u >> 16) | 0x40);  // NaN stays NaN
  return bf16_bits((u + 0x7fffu + ((u >> 16) & 1)) >> 16);
}

}  // namespace erg
