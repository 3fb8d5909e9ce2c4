// What each kind of op costs and how it is described: the overloads behind cost(), op_class() and describe() of ops.hpp.
// Matrix products count as FLOPs, biases, norms and pointwise work do not (MLPerf's model_tensor_flops). An op counts the output it
// makes and its private state as saved; its input was counted by the op that made it.
#pragma once
#include <string>

#include "model/ops.hpp"

namespace erg::detail {

OpCost cost(const ConvBnDesc&);
OpCost cost(const BottleneckDesc&);
OpCost cost(const MaxPoolDesc&);
OpCost cost(const GlobalAvgPoolDesc&);
OpCost cost(const LinearDesc&);
OpCost cost(const ResidualNormDesc&);
OpCost cost(const AttentionDesc&);
OpCost cost(const EmbeddingDesc&);
OpCost cost(const ClassifierDesc&);

std::string describe(const ConvBnDesc&);
std::string describe(const BottleneckDesc&);
std::string describe(const MaxPoolDesc&);
std::string describe(const GlobalAvgPoolDesc&);
std::string describe(const LinearDesc&);
std::string describe(const ResidualNormDesc&);
std::string describe(const AttentionDesc&);
std::string describe(const EmbeddingDesc&);
std::string describe(const ClassifierDesc&);

inline constexpr double fp32_bytes = 4;

}  // namespace erg::detail
