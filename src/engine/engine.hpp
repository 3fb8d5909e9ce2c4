// The engine door: where training runs. An engine is a factory of ops plus the memory they live in.
// `ref` is linked in; every other engine is a plugin engine_NAME.so loaded on demand.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "engine/op.hpp"
#include "engine/trace.hpp"
#include "model/ops.hpp"

namespace erg {

struct EngineInfo {
  std::string name;          // "cpu"
  std::string device;        // "AMD EPYC 9R14", as the operating system or vendor names it
  std::string library;       // "oneDNN 3.2.0"
  std::string isa;           // "avx512_core_bf16": what its kernels will use
  bool native_bf16 = false;  // hardware multiplies bf16
  int threads = 1;
  bool non_temporal_stores = false;  // of stream(): written lines are not read first
};

// Streams that memory speed is measured with (McCalpin 1995; read is ours), over fp32 tensors of equal, plain shape.
enum class StreamKind { fill, read, copy, triad };
struct StreamArrays {
  Tensor a, b, c;  // those that the stream does not use may be empty
  float scalar = 0;
};

// Memory from the engine's arena; given back when destroyed.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual void* data() const = 0;
  virtual int64_t bytes() const = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual EngineInfo info() const = 0;
  virtual bool supports(DType activations) const = 0;

  // Memory. Zeroed, 64-byte aligned. Throws Error(out_of_memory).
  virtual std::unique_ptr<Buffer> allocate(int64_t bytes, const std::string& purpose) = 0;
  virtual int64_t storage_bytes(DType dtype, const Shape& shape, Layout layout) const = 0;
  virtual int64_t memory_in_use() const = 0;
  virtual int64_t memory_peak() const = 0;
  virtual void reset_memory_peak() = 0;

  // Host <-> device, converting from logical row-major (images: NCHW) fp32 or i32 to the tensor's dtype and layout.
  virtual void write(const Tensor& to, const float* from) = 0;
  virtual void write(const Tensor& to, const int32_t* from) = 0;
  virtual void read(const Tensor& from, float* to) = 0;
  virtual void fill_zero(const Tensor& t) = 0;
  virtual void add(const Tensor& to, const Tensor& what);  // to += what, same dtype, shape and layout; default: plain loop, host memory
  virtual void synchronize() = 0;
  // fill: a = scalar. read: gives the sum of b. copy: a = b. triad: a = b + scalar * c. Over nothing it is the cost of a call.
  // Other streams than read give 0. Default: plain loops, host memory.
  virtual double stream(StreamKind kind, const StreamArrays& arrays);

  // Factory. Making an op may tune and allocate; running it allocates nothing. Throws Error(usage) on impossible descriptors.
  virtual std::unique_ptr<Op> conv_bn(const ConvBnDesc&) = 0;
  virtual std::unique_ptr<Op> bottleneck(const BottleneckDesc&);  // composed from conv_bn unless the engine fuses across
  virtual std::unique_ptr<Op> max_pool(const MaxPoolDesc&) = 0;
  virtual std::unique_ptr<Op> global_avg_pool(const GlobalAvgPoolDesc&) = 0;
  virtual std::unique_ptr<Op> linear(const LinearDesc&) = 0;
  virtual std::unique_ptr<Op> residual_norm(const ResidualNormDesc&) = 0;
  virtual std::unique_ptr<Op> attention(const AttentionDesc&) = 0;
  virtual std::unique_ptr<Op> embedding(const EmbeddingDesc&) = 0;
  virtual std::unique_ptr<ClassifierOp> classifier(const ClassifierDesc&) = 0;
  virtual std::unique_ptr<OptimizerOp> optimizer() = 0;

  // Scratch shared by all ops of this engine: valid only inside one op call. Reserve while making ops, use while running.
  // A block (bottleneck) has its own, because it holds values there while it calls ops.
  enum class Scratch { op, block };
  void release_scratch();  // when no op of this engine is left
  void reserve_scratch(int64_t bytes, Scratch which = Scratch::op);
  void* scratch(Scratch which = Scratch::op) const { return buffer(which) ? buffer(which)->data() : nullptr; }
  int64_t scratch_bytes(Scratch which = Scratch::op) const { return buffer(which) ? buffer(which)->bytes() : 0; }

  // Ops hold spans of it while they work; null, as at first: none.
  void set_trace(Trace* trace) { trace_ = trace; }
  Trace* trace() const { return trace_; }

  // Throws Error(failed) when the tensor would reach past the buffer's end.
  Tensor view(Buffer& buffer, DType dtype, Shape shape, Layout layout, int64_t offset_bytes = 0) const;

 private:
  const std::unique_ptr<Buffer>& buffer(Scratch which) const { return scratch_[size_t(which)]; }
  std::unique_ptr<Buffer> scratch_[2];
  Trace* trace_ = nullptr;
};

struct EngineOptions {
  int device_index = 0;
  int threads = 0;
};  // threads = 0: what the machine or cgroup gives

// "ref", "cpu", "cpu:0", "cuda:1". Throws Error(unavailable) saying why a plugin does not load and what would help; Error(usage) for a
// name that no back end has. Plugins are looked for in $ERGOMETER_PLUGINS (folders, ':' between), beside the binary, in ../lib and
// ../lib/ergometer.
std::unique_ptr<Engine> open_engine(const std::string& device, const EngineOptions& options = {});
// Which engines could be opened here: name and "" or the reason why not.
std::vector<std::pair<std::string, std::string>> list_engines();
void require_engine_name(const std::string& device);  // throws what open_engine would for a name that is none, without opening it

// What a plugin exports.
inline constexpr int engine_abi = 3;
extern "C" using EngineAbiFn = int();                             // erg_engine_abi: returns engine_abi
extern "C" using EngineOpenFn = Engine * (const EngineOptions*);  // erg_engine_open: throws Error
// The reference engine's opener, linked into the binary (engine/ref).
std::unique_ptr<Engine> open_ref_engine(const EngineOptions& options);

}  // namespace erg
