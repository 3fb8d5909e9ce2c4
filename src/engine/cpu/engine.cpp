// The engine itself: identity, the factory, and what the plugin exports. Memory is in memory.cpp, host transfer in transfer.cpp.
#include "engine/cpu/engine.hpp"

#include <omp.h>

#include <cstdlib>
#include <latch>
#include <system_error>
#include <thread>
#include <vector>

#include "core/units.hpp"
#include "engine/check.hpp"
#include "engine/cpu/isa.hpp"
#include "engine/cpu/kernels/stream.hpp"
#include "engine/cpu/machine.hpp"
#include "engine/cpu/onednn.hpp"
#include "engine/cpu/ops.hpp"

namespace erg {
namespace {

std::string isa_name() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::sse41: return "sse41";
    case dnnl::cpu_isa::avx: return "avx";
    case dnnl::cpu_isa::avx2: return "avx2";
    case dnnl::cpu_isa::avx2_vnni: return "avx2_vnni";
    case dnnl::cpu_isa::avx2_vnni_2: return "avx2_vnni_2";
    case dnnl::cpu_isa::avx512_core: return "avx512_core";
    case dnnl::cpu_isa::avx512_core_vnni: return "avx512_core_vnni";
    case dnnl::cpu_isa::avx512_core_bf16: return "avx512_core_bf16";
    case dnnl::cpu_isa::avx512_core_fp16: return "avx512_core_fp16";
    case dnnl::cpu_isa::avx512_core_amx: return "avx512_core_amx";
    case dnnl::cpu_isa::avx512_core_amx_fp16: return "avx512_core_amx_fp16";
    default: return "generic";
  }
}

// Whether oneDNN trains in bf16 here is asked of oneDNN: the gradient of a small convolution's weights is what needs most.
bool trains_in_bf16() {
  using onednn::Desc;
  using onednn::Tag;
  const auto bf16 = dnnl::memory::data_type::bf16;
  const Desc image({1, 16, 8, 8}, bf16, Tag::any), weights({16, 16, 3, 3}, bf16, Tag::any);
  const Desc gradient({16, 16, 3, 3}, dnnl::memory::data_type::f32, Tag::any);
  const auto direct = dnnl::algorithm::convolution_direct;
  const dnnl::convolution_forward::primitive_desc forward(onednn::engine(), dnnl::prop_kind::forward_training, direct, image, weights,
                                                          image, {1, 1}, {1, 1}, {1, 1}, {}, true);
  if (!forward) return false;
  return bool(dnnl::convolution_backward_weights::primitive_desc(onednn::engine(), direct, image, gradient, image, {1, 1}, {1, 1}, {1, 1},
                                                                 forward, {}, true));
}

template <class Make>
auto made(CpuEngine& engine, const OpDesc& desc, Make make) -> decltype(make()) {
  check_descriptor(desc);
  try {
    if (!std::visit([&](const auto& d) { return engine.supports(d.dtype); }, desc)) {
      throw Error(ErrorKind::unavailable, "this precision cannot be trained on " + engine.info().device, describe(desc), "use fp32");
    }
    return make();
  } catch (const Error& e) {
    if (!e.where().empty()) throw;
    throw Error(e.kind(), e.message(), describe(desc), e.fix());
  } catch (const dnnl::error& e) { throw onednn::translated(e, describe(desc), ErrorKind::usage); }
}

// libgomp ends the process when the system refuses it a thread, so as many are tried first: all at once, as it will have them.
void require_threads(int count) {
  std::latch end(1);
  std::vector<std::jthread> threads;
  threads.reserve(size_t(count));
  try {
    for (int i = 1; i < count; ++i) threads.emplace_back([&] { end.wait(); });
    end.count_down();
  } catch (const std::system_error& e) {
    end.count_down();
    throw Error(ErrorKind::failed, "cannot start " + std::to_string(count) + " threads: " + e.code().message(), "engine cpu",
                "raise the limits of processes (ulimit -u), memory (ulimit -v) or the cgroup's pids.max, or lower OMP_STACKSIZE");
  }
}

// Threads that wander between cores leave their caches and, on several sockets, their memory behind. Workers stay where they are put; the
// first thread, whose affinity every thread started later inherits, finds the one core that is left. Only where all cores that we may use
// are ours to fill: of two programs that share them each would take the same ones. OpenMP's own variables come first.
void pin_workers(int threads) {
  const std::vector<int> cores = allowed_cores();
  for (const char* name : {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY"})
    if (std::getenv(name)) return;
  if (threads < 2 || size_t(threads) != cores.size()) return;
#pragma omp parallel num_threads(threads)
  if (const int thread = omp_get_thread_num(); thread > 0) stay_on(cores[size_t(thread)]);
}

}  // namespace

CpuEngine::CpuEngine(const EngineOptions& options) {
  if (options.device_index != 0) {
    throw Error(ErrorKind::unavailable, "there is one CPU device, cpu:0", "device cpu:" + std::to_string(options.device_index), "use cpu");
  }
  threads_ = options.threads > 0 ? options.threads : usable_cores();
  omp_set_dynamic(0);
  omp_set_num_threads(threads_);
  require_threads(threads_);
  pin_workers(threads_);
  if (const int64_t left = address_space_left(); left < library_space)
    throw Error(ErrorKind::out_of_memory,
                bytes_text(double(left)) + " of address space are left, and oneDNN's kernels need " + bytes_text(double(library_space)),
                "engine cpu", "raise ulimit -v");
}

EngineInfo CpuEngine::info() const {
  const dnnl::version_t* v = dnnl::version();
  EngineInfo info;
  info.name = "cpu";
  info.device = processor_name();
  info.library = "oneDNN " + std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
  info.isa = isa_name();
  info.native_bf16 = kernel_isa() == Isa::v4_bf16;
  info.threads = threads_;
  info.non_temporal_stores = stream_kernels().non_temporal;
  return info;
}

bool CpuEngine::supports(DType activations) const {
  static const bool bf16 = trains_in_bf16();
  return activations == DType::f32 || (activations == DType::bf16 && bf16);
}

double CpuEngine::stream(StreamKind kind, const StreamArrays& x) {
  const StreamKernels& k = stream_kernels();
  const auto floats = [](const Tensor& t) { return t.as<float>(); };
  const int64_t written = x.a.bytes / int64_t(sizeof(float));
  switch (kind) {
    case StreamKind::fill: k.fill(floats(x.a), x.scalar, written); return 0;
    case StreamKind::copy: k.copy(floats(x.a), floats(x.b), written); return 0;
    case StreamKind::triad: k.triad(floats(x.a), floats(x.b), floats(x.c), x.scalar, written); return 0;
    case StreamKind::read: break;
  }
  return k.read(floats(x.b), x.b.bytes / int64_t(sizeof(float)));
}

std::unique_ptr<Op> CpuEngine::conv_bn(const ConvBnDesc& d) {
  return made(*this, d, [&] { return make_cpu_conv_bn(*this, d); });
}
std::unique_ptr<Op> CpuEngine::bottleneck(const BottleneckDesc& d) {
  return made(*this, d, [&] { return make_cpu_bottleneck(*this, d); });
}
std::unique_ptr<Op> CpuEngine::max_pool(const MaxPoolDesc& d) {
  return made(*this, d, [&] { return make_cpu_max_pool(*this, d); });
}
std::unique_ptr<Op> CpuEngine::global_avg_pool(const GlobalAvgPoolDesc& d) {
  return made(*this, d, [&] { return make_cpu_global_avg_pool(*this, d); });
}
std::unique_ptr<Op> CpuEngine::linear(const LinearDesc& d) {
  return made(*this, d, [&] { return make_cpu_linear(*this, d); });
}
std::unique_ptr<Op> CpuEngine::residual_norm(const ResidualNormDesc& d) {
  return made(*this, d, [&] { return make_cpu_residual_norm(*this, d); });
}
std::unique_ptr<Op> CpuEngine::attention(const AttentionDesc& d) {
  return made(*this, d, [&] { return make_cpu_attention(*this, d); });
}
std::unique_ptr<Op> CpuEngine::embedding(const EmbeddingDesc& d) {
  return made(*this, d, [&] { return make_cpu_embedding(*this, d); });
}
std::unique_ptr<ClassifierOp> CpuEngine::classifier(const ClassifierDesc& d) {
  return made(*this, d, [&] { return make_cpu_classifier(*this, d); });
}
std::unique_ptr<OptimizerOp> CpuEngine::optimizer() { return make_cpu_optimizer(*this); }

}  // namespace erg

extern "C" {
int erg_engine_abi() { return erg::engine_abi; }
erg::Engine* erg_engine_open(const erg::EngineOptions* options) { return new erg::CpuEngine(*options); }
}
