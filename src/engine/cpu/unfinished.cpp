// Stand-ins while the ops of this folder are being written: each says so when asked for, and goes when its own file comes.
#include "core/error.hpp"
#include "engine/cpu/ops.hpp"

namespace erg {
namespace {
[[noreturn]] void unfinished(const char* what) { throw Error(ErrorKind::unavailable, "not written yet", std::string("engine cpu, ") + what); }
}  // namespace

[[gnu::weak]] std::unique_ptr<Op> make_cpu_conv_bn(CpuEngine&, const ConvBnDesc&) { unfinished("conv_bn"); }
[[gnu::weak]] std::unique_ptr<Op> make_cpu_max_pool(CpuEngine&, const MaxPoolDesc&) { unfinished("max_pool"); }
[[gnu::weak]] std::unique_ptr<Op> make_cpu_global_avg_pool(CpuEngine&, const GlobalAvgPoolDesc&) { unfinished("global_avg_pool"); }
[[gnu::weak]] std::unique_ptr<Op> make_cpu_linear(CpuEngine&, const LinearDesc&) { unfinished("linear"); }
[[gnu::weak]] std::unique_ptr<Op> make_cpu_residual_norm(CpuEngine&, const ResidualNormDesc&) { unfinished("residual_norm"); }
[[gnu::weak]] std::unique_ptr<Op> make_cpu_attention(CpuEngine&, const AttentionDesc&) { unfinished("attention"); }
[[gnu::weak]] std::unique_ptr<Op> make_cpu_embedding(CpuEngine&, const EmbeddingDesc&) { unfinished("embedding"); }
[[gnu::weak]] std::unique_ptr<ClassifierOp> make_cpu_classifier(CpuEngine&, const ClassifierDesc&) { unfinished("classifier"); }
[[gnu::weak]] std::unique_ptr<OptimizerOp> make_cpu_optimizer(CpuEngine&) { unfinished("optimizer"); }

}  // namespace erg
