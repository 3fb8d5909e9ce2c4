// Token and position embedding: y[b, t] = table[token[b, t]] + positions[t].
#include <fmt/format.h>

#include "core/error.hpp"
#include "engine/ref/matrix.hpp"
#include "engine/ref/ops.hpp"
#include "engine/ref/values.hpp"

namespace erg::ref {
namespace {

class Embedding final : public Op {
 public:
  Embedding(Engine& engine, const EmbeddingDesc& d) : engine_(engine), d_(d) {
    Workspace::reserve(engine, (d.vocabulary + d.positions + d.batch * d.sequence) * d.hidden);
  }

  std::vector<ParameterSpec> parameters() const override {
    std::vector<ParameterSpec> p{{"tokens", {d_.vocabulary, d_.hidden}, d_.vocabulary * d_.hidden, true, true}};
    if (d_.positions) p.push_back({"positions", {d_.positions, d_.hidden}, d_.positions * d_.hidden, true, true});
    return p;
  }

  void forward(Inputs in, Inputs out, Mode) override {
    Workspace work(engine_);
    const float* table = work.weights(bound()[0], d_.vocabulary * d_.hidden);
    const float* positions = d_.positions ? work.weights(bound()[1], d_.positions * d_.hidden) : nullptr;
    float* y = work.zeros(d_.batch * d_.sequence * d_.hidden);
    for_each_token(in[0], [&](int64_t row, int64_t t, int64_t token) {
      add_scaled(y + row * d_.hidden, 1, table + token * d_.hidden, d_.hidden);
      if (positions) add_scaled(y + row * d_.hidden, 1, positions + t * d_.hidden, d_.hidden);
    });
    store(out[0], y);
  }

  void backward(Inputs in, Inputs, Inputs d_out, Inputs, Accumulate accumulate) override {
    Workspace work(engine_);
    const float* d_y = work.load(d_out[0]);
    float *d_table = work.zeros(d_.vocabulary * d_.hidden), *d_positions = work.zeros(d_.positions * d_.hidden);
    for_each_token(in[0], [&](int64_t row, int64_t t, int64_t token) {
      add_scaled(d_table + token * d_.hidden, 1, d_y + row * d_.hidden, d_.hidden);
      if (d_.positions) add_scaled(d_positions + t * d_.hidden, 1, d_y + row * d_.hidden, d_.hidden);
    });
    store_gradient(bound()[0], d_table, d_.vocabulary * d_.hidden, d_.tied_table ? Accumulate::yes : accumulate);
    if (d_.positions) store_gradient(bound()[1], d_positions, d_.positions * d_.hidden, accumulate);
  }

 private:
  template <class F>
  void for_each_token(const Tensor& tokens, F f) const {
    for (int64_t row = 0; row < d_.batch * d_.sequence; ++row) {
      const int64_t token = tokens.as<int32_t>()[row];
      if (token < 0 || token >= d_.vocabulary)
        throw Error(ErrorKind::usage, fmt::format("token {} is outside a vocabulary of {}", token, d_.vocabulary), "embedding");
      f(row, row % d_.sequence, token);
    }
  }

  Engine& engine_;
  EmbeddingDesc d_;
};

}  // namespace

std::unique_ptr<Op> make_embedding(Engine& engine, const EmbeddingDesc& desc) { return std::make_unique<Embedding>(engine, desc); }

}  // namespace erg::ref
