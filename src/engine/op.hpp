// What a training op does, whatever engine made it. Ops own primitives, private saved state and scratch; they never own the
// tensors between ops, and never allocate after they were made.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "engine/tensor.hpp"

namespace erg {

// One trainable tensor of an op, as the op declares it.
struct ParameterSpec {
  std::string name;          // "weight", "bias", "gamma", ... unique within the op
  Shape shape;               // logical
  int64_t storage = 0;       // elements it takes in flat storage, >= product of shape; padding stays 0
  bool decay = true;         // weight decay applies (matrices: yes; biases, norms: no)
  bool compute_copy = true;  // wants a copy in the activations' dtype, refreshed by the optimizer
};

// Where the workload put it. The op's own layout rules inside the storage; the optimizer works elementwise on it.
struct ParameterView {
  float* master = nullptr;   // fp32 [storage]
  void* compute = nullptr;   // [storage] in the activations' dtype; == master for fp32, null when no copy was wanted
  void* gradient = nullptr;  // [storage]
  DType gradient_dtype = DType::f32;
  DType compute_dtype = DType::bf16;  // of `compute` where it is not the master itself
};

// A non-trainable fp32 state, such as running statistics.
struct StateView {
  std::string name;
  float* data = nullptr;
  int64_t size = 0;
};

using Inputs = std::span<const Tensor>;

enum class Mode { train, evaluate };  // evaluate: running statistics, nothing saved
enum class Accumulate { no, yes };    // parameter gradients: overwrite, or add to what is there

// Something with parameters in a storage that is not its own.
class Trainable {
 public:
  virtual ~Trainable() = default;
  virtual std::vector<ParameterSpec> parameters() const { return {}; }
  // Once, in the order of parameters().
  virtual void bind(std::span<const ParameterView> views) { bound_.assign(views.begin(), views.end()); }
  virtual void weights_changed() {}  // after import and after every optimizer step

  // Logical row-major fp32 <-> this op's layout in the bound storage. Host pointers. Import writes master and compute copy.
  // The default is for host memory and a storage that starts with the logical values in row-major order.
  virtual void import_parameter(size_t index, const float* logical);
  virtual void export_parameter(size_t index, float* logical) const;
  virtual void export_gradient(size_t index, float* logical) const;

 protected:
  const std::vector<ParameterView>& bound() const { return bound_; }  // what the default bind() kept

 private:
  std::vector<ParameterView> bound_;
};

class Op : public Trainable {
 public:
  virtual std::vector<StateView> state() { return {}; }

  // Tensors as listed at each descriptor in model/ops.hpp. `in` and `out` of forward must still hold their values in backward,
  // except where a descriptor says that backward does not read them.
  // A tensor of d_in without data is not wanted. Forward in Mode::evaluate saves nothing, so backward may not follow it. Backward may use
  // up d_out and what forward saved: it follows a forward once.
  virtual void forward(Inputs in, Inputs out, Mode mode) = 0;
  virtual void backward(Inputs in, Inputs out, Inputs d_out, Inputs d_in, Accumulate accumulate) = 0;

  void forward(std::initializer_list<Tensor> in, std::initializer_list<Tensor> out, Mode mode = Mode::train) {
    forward(Inputs(in.begin(), in.size()), Inputs(out.begin(), out.size()), mode);
  }
  void backward(std::initializer_list<Tensor> in, std::initializer_list<Tensor> out, std::initializer_list<Tensor> d_out,
                std::initializer_list<Tensor> d_in, Accumulate accumulate) {
    backward(Inputs(in.begin(), in.size()), Inputs(out.begin(), out.size()), Inputs(d_out.begin(), d_out.size()),
             Inputs(d_in.begin(), d_in.size()), accumulate);
  }
};

// What the defaults of Trainable do, for ops that lay out some of their parameters plainly. `count`: logical values.
void import_plain(const ParameterView& to, const float* logical, int64_t count);
void export_plain(const ParameterView& from, float* logical, int64_t count);
void export_plain_gradient(const ParameterView& from, float* logical, int64_t count);

// The head is its own kind: training does forward and backward of a chunk while its logits are in cache.
class ClassifierOp : public Trainable {
 public:
  // metrics: fp32 [2] on the device, added to: sum of row losses, count of rows whose largest logit is the target. Ignored rows
  // (target -1) add to neither and have a zero d_x. train's losses are smoothed as asked; evaluate's are the plain cross-entropy.
  virtual void train(const Tensor& x, const Tensor& targets, const Tensor& d_x, const Tensor& metrics, Accumulate accumulate) = 0;
  virtual void evaluate(const Tensor& x, const Tensor& targets, const Tensor& metrics) = 0;
};

// Optimizers over flat storage. All pointers are device memory of `elements`; elements [0, decay_elements) decay.
struct FlatStorage {
  int64_t elements = 0, decay_elements = 0;
  float* master = nullptr;
  void* compute = nullptr;  // null for fp32
  void* gradient = nullptr;
  float *state1 = nullptr, *state2 = nullptr;  // AdamW: m, v; SGD: momentum, unused
  DType compute_dtype = DType::f32, gradient_dtype = DType::f32;
};
struct AdamWStep {
  double learning_rate, beta1, beta2, epsilon, weight_decay;
  int64_t step;
  double clip;
};  // step counts from 1
struct SgdStep {
  double learning_rate, momentum, weight_decay;
  int64_t step;
};  // PyTorch's: g += wd*w; v = mu*v + g (v = g at step 1); w -= lr*v

class OptimizerOp {
 public:
  virtual ~OptimizerOp() = default;
  // Squared gradient norm -> norm_out fp32 [1] on the device (overwritten); used for clipping without the host waiting.
  virtual void gradient_norm(const FlatStorage& s, const Tensor& norm_out) = 0;
  // clip > 0: gradients are scaled by min(1, clip / (n + 1e-6)) (torch.nn.utils.clip_grad_norm_), n the root of `norm`, which is
  // gradient_norm's squared value or a sum of such. clip = 0: `norm` is not read.
  virtual void adamw(const FlatStorage& s, const AdamWStep& step,
                     const Tensor& norm) = 0;  // Loshchilov & Hutter 2019, as torch.optim.AdamW
  virtual void sgd(const FlatStorage& s, const SgdStep& step) = 0;
};

}  // namespace erg
