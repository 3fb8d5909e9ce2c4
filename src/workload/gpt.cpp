// GPT-2 (Radford et al. 2019, section 2.3) with AdamW: pre-norm blocks, causal flash attention, tanh-GELU, tied embedding.
// wire() is the paper's figure from bottom to top. Every residual addition is done by the norm that follows it.
#include <algorithm>

#include "workload/training.hpp"

namespace erg {
namespace {

class Gpt final : public Training {
 public:
  using Training::Training;
  const char* sample_unit() const override { return "tokens"; }

 protected:
  void wire() override {
    allocate_shared();
    embedding();  // the residual stream: [rows, hidden]
    for (int64_t layer = 0; layer < shape_.layers; ++layer) {
      Variable y = norm();    // ln1
      y = linear(y, *wide_);  // qkv: [rows, 3 hidden]
      y = attention(y);       // [rows, hidden]
      linear_to_stream(y);    // proj
      y = norm();             // ln2
      feed_forward(y);        // up, GELU: [rows, ffn]; down
    }
    head(norm(true));  // ln_f; logits, softmax, cross-entropy
  }

  void load(const HostBatch& batch) override {
    engine_.write(tokens_, batch.tokens.data());
    engine_.write(targets_, batch.targets.data());
  }

  int moments() const override { return 2; }
  void optimize(OptimizerOp& optimizer, const FlatStorage& flat, double learning_rate, int64_t step) override {
    const OptimizerSpec& o = spec_.workload.optimizer;
    optimizer.adamw(flat, {learning_rate, o.beta1, o.beta2, o.epsilon, o.weight_decay, step, o.clip}, gradient_norm_);
  }

 private:
  // Gradients in flight take three buffers: the residual stream's, and a narrow and a wide one for the branch being walked back,
  // whose ops all go from narrow to wide or from wide to narrow. All branches also share the buffer of what they add to the
  // stream, because no backward reads it.
  void allocate_shared() {
    const int64_t wide = std::max(3 * shape_.hidden, shape_.ffn);
    narrow_ = &allocate(rows_ * shape_.hidden * bytes_of(plan_.dtype), "gradients in flight");
    wide_ = &allocate(rows_ * wide * bytes_of(plan_.dtype), "gradients in flight");
    const Shape stream{rows_, shape_.hidden};
    branch_ = {allocate(plan_.dtype, stream, Layout::plain, "residual branch"),
               allocate(plan_.dtype, stream, Layout::plain, "gradients in flight")};
    stream_ = branch_;  // the gradient of a sum is that of both its terms
  }

  Variable variable(const Shape& shape, Buffer& gradient) {
    return {allocate(plan_.dtype, shape, Layout::plain, "activations"), engine_.view(gradient, plan_.dtype, shape, Layout::plain)};
  }

  static Variable reshaped(Variable v, const Shape& shape) {
    v.value.shape = v.gradient.shape = shape;
    return v;
  }

  void embedding() {
    const EmbeddingDesc& d = next<EmbeddingDesc>();
    tokens_ = allocate(DType::i32, {d.batch, d.sequence}, Layout::plain, "batch");
    stream_.value = allocate(plan_.dtype, {rows_, d.hidden}, Layout::plain, "activations");
    add(engine_.embedding(d), {{tokens_, {}}}, {stream_});
  }

  // stream += branch, y = layernorm(stream). The first norm finds no branch yet; after the last one nobody reads the stream, so
  // that its gradient begins there.
  Variable norm(bool last = false) {
    const ResidualNormDesc& d = next<ResidualNormDesc>();
    const Variable y = variable({d.rows, d.hidden}, *narrow_);
    const Tensor d_stream = last ? Tensor{} : stream_.gradient;
    Stage stage{engine_.residual_norm(d), {stream_.value}, {y.value}, {d_stream, y.gradient}, {stream_.gradient}, nullptr};
    if (d.residual) {
      stream_.value = allocate(plan_.dtype, {d.rows, d.hidden}, Layout::plain, "activations");
      stage.in.push_back(branch_.value);
      stage.out = {stream_.value, y.value};
    }
    add(std::move(stage));
    return y;
  }

  Variable linear(const Variable& x, Buffer& gradient) {
    const LinearDesc& d = next<LinearDesc>();
    const Variable y = variable({d.rows, d.out}, gradient);
    add(engine_.linear(d), {x}, {y});
    return y;
  }

  void linear_to_stream(const Variable& x, Recomputable* source = nullptr) {
    add({engine_.linear(next<LinearDesc>()), {x.value}, {branch_.value}, {branch_.gradient}, {x.gradient}, source});
  }

  // GELU's outputs, the widest tensors of all, share one buffer where the engine can make them again: half of what the two layers keep.
  void feed_forward(const Variable& x) {
    const LinearDesc& d = next<LinearDesc>();
    std::unique_ptr<Op> up = engine_.linear(d);
    Recomputable* const source = dynamic_cast<Recomputable*>(up.get());
    if (!source || !activated_.value) activated_ = variable({d.rows, d.out}, *wide_);
    add(std::move(up), {x}, {activated_});
    linear_to_stream(activated_, source);
  }

  Variable attention(const Variable& qkv) {
    const AttentionDesc& d = next<AttentionDesc>();
    const Variable y = variable({d.batch, d.sequence, d.heads, d.head_size}, *narrow_);
    add(engine_.attention(d), {reshaped(qkv, {d.batch, d.sequence, 3, d.heads, d.head_size})}, {y});
    return reshaped(y, {rows_, d.heads * d.head_size});
  }

  // The head runs first in backward and begins the table's gradient; the embedding's then adds to it.
  void head(const Variable& x) {
    const ClassifierDesc& d = next<ClassifierDesc>();
    targets_ = allocate(DType::i32, {d.rows}, Layout::plain, "batch");
    add_head(engine_.classifier(d), x, targets_, "embed.tokens");
  }

  const GptShape& shape_ = spec_.workload.gpt;
  const int64_t rows_ = plan_.network.samples_per_micro_batch;
  Tensor tokens_, targets_;
  Variable stream_, branch_, activated_;
  Buffer *narrow_ = nullptr, *wide_ = nullptr;
};

}  // namespace

std::unique_ptr<Workload> make_gpt(const Spec& spec, const Plan& plan, Engine& engine, std::unique_ptr<Batches> batches) {
  return std::make_unique<Gpt>(spec, plan, engine, std::move(batches));
}

}  // namespace erg
