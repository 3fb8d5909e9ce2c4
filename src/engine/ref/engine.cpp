#include "engine/ref/engine.hpp"

#include <algorithm>
#include <cstring>

#include "core/error.hpp"
#include "engine/check.hpp"
#include "engine/ref/ops.hpp"
#include "engine/ref/values.hpp"

namespace erg {

std::unique_ptr<Engine> open_ref_engine(const EngineOptions& options) {
  if (options.device_index != 0) throw Error(ErrorKind::usage, "the reference engine is one device", "device", "use ref");
  return std::make_unique<ref::RefEngine>();
}

namespace ref {

EngineInfo RefEngine::info() const { return {"ref", "plain loops on one core", "", "portable", false, 1}; }

void RefEngine::write(const Tensor& to, const float* from) { store(to, from); }

void RefEngine::write(const Tensor& to, const int32_t* from) {
  if (to.dtype != DType::i32) throw Error(ErrorKind::failed, "integers go into int32 tensors only", "ref write");
  std::copy_n(from, to.size(), to.as<int32_t>());
}

void RefEngine::read(const Tensor& from, float* to) { load(from, to); }

void RefEngine::fill_zero(const Tensor& t) { std::memset(t.data, 0, size_t(t.bytes)); }

// Checks the descriptor, then makes the op from it.
template <class Desc, class Make>
static auto checked(Engine& engine, const Desc& desc, Make make) {
  check_descriptor(desc);
  return make(engine, desc);
}

std::unique_ptr<Op> RefEngine::conv_bn(const ConvBnDesc& d) { return checked(*this, d, make_conv_bn); }
std::unique_ptr<Op> RefEngine::max_pool(const MaxPoolDesc& d) { return checked(*this, d, make_max_pool); }
std::unique_ptr<Op> RefEngine::global_avg_pool(const GlobalAvgPoolDesc& d) { return checked(*this, d, make_global_avg_pool); }
std::unique_ptr<Op> RefEngine::linear(const LinearDesc& d) { return checked(*this, d, make_linear); }
std::unique_ptr<Op> RefEngine::residual_norm(const ResidualNormDesc& d) { return checked(*this, d, make_residual_norm); }
std::unique_ptr<Op> RefEngine::attention(const AttentionDesc& d) { return checked(*this, d, make_attention); }
std::unique_ptr<Op> RefEngine::embedding(const EmbeddingDesc& d) { return checked(*this, d, make_embedding); }
std::unique_ptr<ClassifierOp> RefEngine::classifier(const ClassifierDesc& d) { return checked(*this, d, make_classifier); }
std::unique_ptr<OptimizerOp> RefEngine::optimizer() { return make_optimizer(); }

}  // namespace ref
}  // namespace erg
