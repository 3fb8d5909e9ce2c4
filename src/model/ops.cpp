// cost(), op_class() and describe() of any op: they pick the overload of the descriptor that the variant holds.
#include "model/ops.hpp"

#include "model/op_costs.hpp"

namespace erg {
namespace {

const char* class_of(const ConvBnDesc&) { return "convolution"; }
const char* class_of(const BottleneckDesc&) { return "convolution"; }
const char* class_of(const MaxPoolDesc&) { return "pooling"; }
const char* class_of(const GlobalAvgPoolDesc&) { return "pooling"; }
const char* class_of(const LinearDesc&) { return "linear"; }
const char* class_of(const ResidualNormDesc&) { return "norm"; }
const char* class_of(const AttentionDesc&) { return "attention"; }
const char* class_of(const EmbeddingDesc&) { return "embedding"; }
const char* class_of(const ClassifierDesc&) { return "classifier"; }

}  // namespace

OpCost cost(const OpDesc& desc) {
  return std::visit([](const auto& d) { return detail::cost(d); }, desc);
}

std::string op_class(const OpDesc& desc) {
  return std::visit([](const auto& d) { return std::string(class_of(d)); }, desc);
}

std::string describe(const OpDesc& desc) {
  return std::visit([](const auto& d) { return detail::describe(d); }, desc);
}

}  // namespace erg
