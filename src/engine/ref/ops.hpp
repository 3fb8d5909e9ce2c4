// What the reference engine builds its ops with: one factory a file of the same name.
#pragma once
#include <memory>

#include "engine/engine.hpp"

namespace erg::ref {

std::unique_ptr<Op> make_conv_bn(Engine& engine, const ConvBnDesc& desc);
std::unique_ptr<Op> make_max_pool(Engine& engine, const MaxPoolDesc& desc);
std::unique_ptr<Op> make_global_avg_pool(Engine& engine, const GlobalAvgPoolDesc& desc);
std::unique_ptr<Op> make_linear(Engine& engine, const LinearDesc& desc);
std::unique_ptr<Op> make_residual_norm(Engine& engine, const ResidualNormDesc& desc);
std::unique_ptr<Op> make_attention(Engine& engine, const AttentionDesc& desc);
std::unique_ptr<Op> make_embedding(Engine& engine, const EmbeddingDesc& desc);
std::unique_ptr<ClassifierOp> make_classifier(Engine& engine, const ClassifierDesc& desc);
std::unique_ptr<OptimizerOp> make_optimizer();

}  // namespace erg::ref
