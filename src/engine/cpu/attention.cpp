// Causal flash attention: own kernels; the log-sum-exp of each query is kept for backward.
#include "engine/cpu/kernels/attention.hpp"

#include <algorithm>
#include <cmath>

#include "engine/cpu/ops.hpp"

namespace erg {
namespace {

int64_t bytes_of_floats(int64_t count) { return count * int64_t(sizeof(float)); }

class AttentionOp final : public Op {
 public:
  AttentionOp(CpuEngine& engine, const AttentionDesc& d)
      : engine_(engine), log_sum_(engine.allocate(bytes_of_floats(d.batch * d.heads * d.sequence), "attention's log-sum-exp")) {
    common_.dtype = d.dtype;
    common_.batch = d.batch;
    common_.sequence = d.sequence;
    common_.heads = d.heads;
    common_.head_size = d.head_size;
    common_.threads = engine.threads();
    common_.parts = attention_parts(common_);
    if (d.rope) make_angles(d);
    engine.reserve_scratch(std::max(attention_forward().workspace_bytes(common_), attention_backward().workspace_bytes(common_)));
  }

  void forward(Inputs in, Inputs out, Mode mode) override {
    Attention a = common_;
    a.log_sum = mode == Mode::train ? static_cast<float*>(log_sum_->data()) : nullptr;
    a.qkv = in[0].data;
    a.y = out[0].data;
    a.workspace = engine_.scratch();
    attention_forward().run(a);
  }

  void backward(Inputs in, Inputs out, Inputs d_out, Inputs d_in, Accumulate) override {
    if (!d_in[0]) return;
    Attention a = common_;
    a.log_sum = static_cast<float*>(log_sum_->data());
    a.qkv = in[0].data;
    a.y = out[0].data;
    a.d_y = d_out[0].data;
    a.d_qkv = d_in[0].data;
    a.workspace = engine_.scratch();
    attention_backward().run(a);
  }

 private:
  // Su et al. 2021, equation 15: position t turns pair i by t 10000^(-2i / head size).
  void make_angles(const AttentionDesc& d) {
    const int64_t half = d.head_size / 2;
    angles_ = engine_.allocate(bytes_of_floats(2 * d.sequence * half), "rotary angles");
    float *cos = static_cast<float*>(angles_->data()), *sin = cos + d.sequence * half;
    common_.cos = cos;
    common_.sin = sin;
    for (int64_t t = 0; t < d.sequence; ++t) {
      for (int64_t i = 0; i < half; ++i) {
        const double angle = double(t) * std::pow(10000.0, -2.0 * double(i) / double(d.head_size));
        *cos++ = float(std::cos(angle));
        *sin++ = float(std::sin(angle));
      }
    }
  }

  CpuEngine& engine_;
  Attention common_;
  std::unique_ptr<Buffer> log_sum_, angles_;
};

}  // namespace

std::unique_ptr<Op> make_cpu_attention(CpuEngine& engine, const AttentionDesc& desc) { return std::make_unique<AttentionOp>(engine, desc); }

}  // namespace erg
