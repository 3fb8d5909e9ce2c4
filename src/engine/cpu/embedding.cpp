// Token (+ position) embedding: own kernels over rows; backward sorts the tokens first (kernels/embedding.hpp says why).
#include "engine/cpu/kernels/embedding.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "engine/cpu/ops.hpp"

namespace erg {
namespace {

class Embedding final : public Op {
 public:
  Embedding(CpuEngine& engine, const EmbeddingDesc& d) : engine_(engine), d_(d) {
    engine.reserve_scratch(rows() * int64_t(sizeof(uint64_t)));
  }

  std::vector<ParameterSpec> parameters() const override {
    std::vector<ParameterSpec> p{{"tokens", {d_.vocabulary, d_.hidden}, d_.vocabulary * d_.hidden, true, true}};
    if (d_.positions) p.push_back({"positions", {d_.positions, d_.hidden}, d_.positions * d_.hidden, true, true});
    return p;
  }

  void forward(Inputs in, Inputs out, Mode) override {
    EmbeddingForward a;
    a.dtype = d_.dtype;
    a.rows = rows();
    a.hidden = d_.hidden;
    a.sequence = d_.sequence;
    a.tokens = checked(in[0]);
    a.table = bound()[0].compute;
    a.positions = d_.positions ? bound()[1].compute : nullptr;
    a.y = out[0].data;
    embedding_kernels().forward(a);
  }

  void backward(Inputs in, Inputs, Inputs d_out, Inputs, Accumulate accumulate) override {
    const int32_t* const tokens = checked(in[0]);
    uint64_t* const sorted = static_cast<uint64_t*>(engine_.scratch());
    for (int64_t row = 0; row < rows(); ++row) sorted[row] = token_row(tokens[row], row);
    std::sort(sorted, sorted + rows());

    const bool add = accumulate == Accumulate::yes;
    if (!add && !d_.tied_table) clear(0);
    if (!add && d_.positions) clear(1);
    EmbeddingBackward a;
    a.dtype = d_.dtype;
    a.gradient_dtype = bound()[0].gradient_dtype;
    a.rows = rows();
    a.hidden = d_.hidden;
    a.sequence = d_.sequence;
    a.d_y = d_out[0].data;
    a.sorted = sorted;
    a.d_table = bound()[0].gradient;
    a.d_positions = d_.positions ? bound()[1].gradient : nullptr;
    embedding_kernels().backward(a);
  }

 private:
  int64_t rows() const { return d_.batch * d_.sequence; }

  const int32_t* checked(const Tensor& tokens) const {
    const int32_t* const t = tokens.as<int32_t>();
    for (int64_t i = 0; i < rows(); ++i) {
      if (t[i] < 0 || t[i] >= d_.vocabulary) {
        throw Error(ErrorKind::usage, "token " + std::to_string(t[i]) + " is outside a vocabulary of " + std::to_string(d_.vocabulary),
                    "embedding");
      }
    }
    return t;
  }

  void clear(size_t parameter) const {
    const ParameterView& v = bound()[parameter];
    const int64_t count = (parameter == 0 ? d_.vocabulary : d_.positions) * d_.hidden;
    engine_.fill_zero({v.gradient_dtype, {count}, Layout::plain, v.gradient, count * bytes_of(v.gradient_dtype)});
  }

  CpuEngine& engine_;
  EmbeddingDesc d_;
};

}  // namespace

std::unique_ptr<Op> make_cpu_embedding(CpuEngine& engine, const EmbeddingDesc& desc) { return std::make_unique<Embedding>(engine, desc); }

}  // namespace erg
