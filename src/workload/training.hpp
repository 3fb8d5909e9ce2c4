// What the training of GPT and of ResNet-50 share: a network wired once from its descriptors, then run forward and backward over
// micro-batches, clipped and optimized. The two differ in wire(), load() and optimize().
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "engine/recomputable.hpp"
#include "workload/parameters.hpp"
#include "workload/workload.hpp"

namespace erg {

// A tensor between two ops and the gradient of the loss with respect to it. Values live from forward to backward; gradients live
// only from one op's backward to the next one's, so that many share a buffer.
struct Variable {
  Tensor value, gradient;
};

// One op and the tensors it was wired to, and what a profile says of it.
struct Stage {
  std::unique_ptr<Op> op;
  std::vector<Tensor> in = {}, out = {}, d_out = {}, d_in = {};
  Recomputable* source = nullptr;  // makes `in` again before backward, where that memory is shared
  std::string name = {};
  Work forward_work = {}, backward_work = {};
};

class Training : public Workload {
 public:
  Training(const Spec& spec, const Plan& plan, Engine& engine, std::unique_ptr<Batches> batches);
  void prepare() final;
  StepResult step() final;
  double read_loss() final;
  Validation validate(int64_t micro_batches) final;
  std::vector<NamedNorm> gradient_norms() final;
  double flops_per_step() const final { return plan_.flops_per_step; }
  int64_t samples_per_step() const final { return plan_.samples_per_step; }
  const Batches* data() const final { return batches_.get(); }

 protected:
  virtual void wire() = 0;                        // adds a stage for every op of the network, then the head
  virtual void load(const HostBatch& batch) = 0;  // host batch -> input tensors
  virtual int moments() const = 0;                // optimizer states per parameter
  virtual void optimize(OptimizerOp& optimizer, const FlatStorage& flat, double learning_rate, int64_t step) = 0;

  // The next op of the plan's network, which must be of this kind: networks are described once, in model.
  template <class Desc>
  const Desc& next();

  Tensor allocate(DType dtype, Shape shape, Layout layout, const std::string& purpose);
  Buffer& allocate(int64_t bytes, const std::string& purpose);
  // A stage whose inputs and outputs are wired with their gradients in order. Its name is that of the op last taken by next().
  void add(std::unique_ptr<Op> op, const std::vector<Variable>& in, const std::vector<Variable>& out);
  void add(Stage stage);
  // The end of the network. `tied_to`: the parameter that is also the head's weight, if there is one.
  void add_head(std::unique_ptr<ClassifierOp> head, const Variable& x, const Tensor& targets, const std::string& tied_to = {});

  const Spec spec_;
  const Plan plan_;
  Engine& engine_;
  Tensor gradient_norm_;  // fp32 [1], squared; of the last step, where the spec clips

 private:
  void load_batch(StepResult& result);
  void forward(Mode mode);
  void backward(Accumulate accumulate);
  void update();

  std::unique_ptr<Batches> batches_;
  size_t taken_ = 0;  // ops of the network that next() gave
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<Stage> stages_;
  std::unique_ptr<ClassifierOp> head_;
  Work head_work_;
  Variable head_in_;
  Tensor targets_;
  std::unique_ptr<OptimizerOp> optimizer_;
  ParameterStore parameters_;
  Tensor metrics_, validation_metrics_;  // fp32 [2]: sum of losses, count of right answers
  int64_t steps_ = 0;
};

template <class Desc>
const Desc& Training::next() {
  return std::get<Desc>(plan_.network.ops.at(taken_++).desc);
}

std::unique_ptr<Workload> make_gpt(const Spec& spec, const Plan& plan, Engine& engine, std::unique_ptr<Batches> batches);
std::unique_ptr<Workload> make_resnet(const Spec& spec, const Plan& plan, Engine& engine, std::unique_ptr<Batches> batches);

}  // namespace erg
