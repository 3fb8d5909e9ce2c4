// What the CPU engine builds its ops with: one factory a file of the same name.
#pragma once
#include <memory>

#include "engine/cpu/engine.hpp"

namespace erg {

std::unique_ptr<Op> make_cpu_conv_bn(CpuEngine& engine, const ConvBnDesc& desc);
std::unique_ptr<Op> make_cpu_bottleneck(CpuEngine& engine, const BottleneckDesc& desc);
std::unique_ptr<Op> make_cpu_max_pool(CpuEngine& engine, const MaxPoolDesc& desc);
std::unique_ptr<Op> make_cpu_global_avg_pool(CpuEngine& engine, const GlobalAvgPoolDesc& desc);
std::unique_ptr<Op> make_cpu_linear(CpuEngine& engine, const LinearDesc& desc);
std::unique_ptr<Op> make_cpu_residual_norm(CpuEngine& engine, const ResidualNormDesc& desc);
std::unique_ptr<Op> make_cpu_attention(CpuEngine& engine, const AttentionDesc& desc);
std::unique_ptr<Op> make_cpu_embedding(CpuEngine& engine, const EmbeddingDesc& desc);
std::unique_ptr<ClassifierOp> make_cpu_classifier(CpuEngine& engine, const ClassifierDesc& desc);
std::unique_ptr<OptimizerOp> make_cpu_optimizer(CpuEngine& engine);

}  // namespace erg
