// The words that stand for enumerators in spec files, one list each: names are printed from it and read by it.
#pragma once
#include <array>
#include <utility>

#include "spec/spec.hpp"

namespace erg {

inline constexpr std::array workload_kinds = {std::pair{"gpt", WorkloadKind::gpt}, std::pair{"resnet50", WorkloadKind::resnet50},
                                              std::pair{"external", WorkloadKind::external}};
inline constexpr std::array precisions = {std::pair{"auto", Precision::automatic}, std::pair{"fp32", Precision::fp32},
                                          std::pair{"tf32", Precision::tf32}, std::pair{"bf16", Precision::bf16},
                                          std::pair{"fp16", Precision::fp16}};
inline constexpr std::array gradient_types = {std::pair{"fp32", DType::f32}, std::pair{"bf16", DType::bf16}};
inline constexpr std::array position_kinds = {std::pair{"learned", Positions::learned}, std::pair{"rope", Positions::rope}};
inline constexpr std::array recompute_kinds = {std::pair{"none", Recompute::none}, std::pair{"selective", Recompute::selective},
                                               std::pair{"full", Recompute::full}};

template <class Names, class Value>
constexpr const char* name_in(const Names& names, Value value) {
  for (const auto& [name, known] : names)
    if (known == value) return name;
  return "?";
}

}  // namespace erg
