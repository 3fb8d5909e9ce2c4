#include "workload/training.hpp"

#include <cmath>

#include "core/clock.hpp"
#include "workload/initial.hpp"
#include "workload/schedule.hpp"

namespace erg {
namespace {

// Gradients and weights read, weights written with their copy, states read and written.
double optimizer_traffic(const FlatStorage& s) {
  const bool copied = s.compute && s.compute != s.master;
  const int states = int(s.state1 != nullptr) + int(s.state2 != nullptr);
  return double(s.elements) *
         double(bytes_of(s.gradient_dtype) + (2 + 2 * states) * int64_t(sizeof(float)) + (copied ? bytes_of(s.compute_dtype) : 0));
}

}  // namespace

Training::Training(const Spec& spec, const Plan& plan, Engine& engine, std::unique_ptr<Batches> batches)
    : spec_(spec), plan_(plan), engine_(engine), batches_(std::move(batches)) {}

void Training::prepare() {
  wire();
  optimizer_ = engine_.optimizer();
  metrics_ = allocate(DType::f32, {2}, Layout::plain, "metrics");
  validation_metrics_ = allocate(DType::f32, {2}, Layout::plain, "metrics");
  gradient_norm_ = allocate(DType::f32, {1}, Layout::plain, "gradient norm");
  parameters_.allocate(engine_, plan_.dtype, spec_.workload.gradients);
  initialize(parameters_, spec_.workload);
  parameters_.allocate_moments(engine_, moments());
  steps_ = 0;
}

StepResult Training::step() {
  StepResult result;
  engine_.fill_zero(metrics_);
  for (int64_t micro = 0; micro < plan_.accumulation; ++micro) {
    load_batch(result);
    forward(Mode::train);
    backward(micro == 0 ? Accumulate::no : Accumulate::yes);
    result.samples += plan_.network.samples_per_micro_batch;
  }
  ++steps_;
  update();
  return result;
}

void Training::load_batch(StepResult& result) {
  const Span span(engine_.trace(), {"data"});
  const double before = steady_clock().now();
  const HostBatch& batch = batches_->next(Split::train);
  result.data_wait_s += steady_clock().now() - before;
  load(batch);
}

// The clip, the step, and the forms of weights that ops keep.
void Training::update() {
  const FlatStorage flat = parameters_.flat();
  const Span span(engine_.trace(), {"optimizer", 0, optimizer_traffic(flat)});
  const OptimizerSpec& o = spec_.workload.optimizer;
  if (o.clip > 0) optimizer_->gradient_norm(flat, gradient_norm_);
  optimize(*optimizer_, flat, learning_rate(o, steps_), steps_);
  parameters_.weights_changed();
}

void Training::forward(Mode mode) {
  for (Stage& s : stages_) {
    const Span span(engine_.trace(), s.forward_work, s.name);
    s.op->forward(s.in, s.out, mode);
  }
}

// The head's loss and gradient are one op: its logits never leave the cache.
void Training::backward(Accumulate accumulate) {
  {
    const Span span(engine_.trace(), head_work_, "head");
    head_->train(head_in_.value, targets_, head_in_.gradient, metrics_, accumulate);
  }
  for (auto s = stages_.rbegin(); s != stages_.rend(); ++s) {
    const Span span(engine_.trace(), s->backward_work, s->name);
    if (s->source) s->source->recompute(s->in);
    s->op->backward(s->in, s->out, s->d_out, s->d_in, accumulate);
  }
}

double Training::read_loss() {
  float metrics[2];
  engine_.read(metrics_, metrics);
  return double(metrics[0]) / double(targets_.size() * plan_.accumulation);
}

Validation Training::validate(int64_t micro_batches) {
  engine_.fill_zero(validation_metrics_);
  for (int64_t micro = 0; micro < micro_batches; ++micro) {
    load(batches_->next(Split::validation));
    forward(Mode::evaluate);
    head_->evaluate(head_in_.value, targets_, validation_metrics_);
  }
  float metrics[2];
  engine_.read(validation_metrics_, metrics);
  const int64_t samples = targets_.size() * micro_batches;
  return {double(metrics[0]) / double(samples), double(metrics[1]) / double(samples), samples};
}

std::vector<Workload::NamedNorm> Training::gradient_norms() {
  engine_.synchronize();
  std::vector<NamedNorm> norms;
  for (size_t number = 0; number < parameters_.parameters().size(); ++number) {
    double squares = 0;
    for (const float g : parameters_.gradient(number)) squares += double(g) * double(g);
    norms.push_back({parameters_.parameters()[number].name, std::sqrt(squares)});
  }
  return norms;
}

Tensor Training::allocate(DType dtype, Shape shape, Layout layout, const std::string& purpose) {
  return engine_.view(allocate(engine_.storage_bytes(dtype, shape, layout), purpose), dtype, shape, layout);
}

Buffer& Training::allocate(int64_t bytes, const std::string& purpose) {
  buffers_.push_back(engine_.allocate(bytes, purpose));
  return *buffers_.back();
}

void Training::add(std::unique_ptr<Op> op, const std::vector<Variable>& in, const std::vector<Variable>& out) {
  Stage stage{std::move(op)};
  for (const Variable& a : in) stage.in.push_back(a.value), stage.d_in.push_back(a.gradient);
  for (const Variable& a : out) stage.out.push_back(a.value), stage.d_out.push_back(a.gradient);
  add(std::move(stage));
}

void Training::add(Stage stage) {
  const NamedOp& op = plan_.network.ops[taken_ - 1];
  parameters_.add(op.name, *stage.op);
  stage.name = op.name;
  stage.forward_work = forward_work(op.desc);
  stage.backward_work = backward_work(op.desc);
  stages_.push_back(std::move(stage));
}

void Training::add_head(std::unique_ptr<ClassifierOp> head, const Variable& x, const Tensor& targets, const std::string& tied_to) {
  parameters_.add(plan_.network.ops[taken_ - 1].name, *head, tied_to);
  head_work_ = backward_work(plan_.network.ops[taken_ - 1].desc);
  head_ = std::move(head);
  head_in_ = x;
  targets_ = targets;
}

}  // namespace erg
