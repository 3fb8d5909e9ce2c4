// Causal self-attention (Vaswani et al. 2017, equation 1), head by head:
//   p_ij = softmax over j <= i of q_i k_j / sqrt(head size);  y_i = sum_j p_ij v_j
// with rotary positions (Su et al. 2021, equation 34, half-split pairs) on q and k where asked.
#include <algorithm>
#include <cmath>

#include "engine/ref/matrix.hpp"
#include "engine/ref/ops.hpp"
#include "engine/ref/values.hpp"

namespace erg::ref {
namespace {

class Attention final : public Op {
 public:
  Attention(Engine& engine, const AttentionDesc& d)
      : engine_(engine), d_(d), scale_(float(1 / std::sqrt(double(d.head_size)))), head_floats_(d.sequence * d.head_size) {
    if (d.rope) {
      cos_ = Saved(engine, DType::f32, {d.sequence, d.head_size / 2});
      sin_ = Saved(engine, DType::f32, {d.sequence, d.head_size / 2});
      for (int64_t t = 0, n = 0; t < d.sequence; ++t)
        for (int64_t i = 0; i < d.head_size / 2; ++i, ++n) {
          const double angle = double(t) * std::pow(10000.0, -2.0 * double(i) / double(d.head_size));
          cos_.floats()[n] = float(std::cos(angle));
          sin_.floats()[n] = float(std::sin(angle));
        }
    }
    Workspace::reserve(engine, d.batch * d.heads * head_floats_ * 7 + head_floats_ * 6 + 2 * d.sequence);
  }

  void forward(Inputs in, Inputs out, Mode) override {
    Workspace work(engine_);
    const float* qkv = work.load(in[0]);
    float* y = work.zeros(out[0].size());
    Head h(work, *this);
    float* p = work.zeros(d_.sequence);
    for_each_head([&](int64_t b, int64_t head) {
      load_head(qkv, b, head, h);
      for (int64_t i = 0; i < d_.sequence; ++i) {
        probabilities(h, i, p);
        float* y_i = y + ((b * d_.sequence + i) * d_.heads + head) * d_.head_size;
        for (int64_t j = 0; j <= i; ++j) add_scaled(y_i, p[j], h.v + j * d_.head_size, d_.head_size);
      }
    });
    store(out[0], y);
  }

  // d_v_j = sum_i p_ij d_y_i;  d_p_ij = d_y_i v_j;  d_s_ij = p_ij (d_p_ij - sum_k p_ik d_p_ik)
  // d_q_i = scale sum_j d_s_ij k_j;  d_k_j = scale sum_i d_s_ij q_i
  void backward(Inputs in, Inputs, Inputs d_out, Inputs d_in, Accumulate) override {
    if (!d_in[0]) return;
    Workspace work(engine_);
    const float *qkv = work.load(in[0]), *d_y = work.load(d_out[0]);
    float* d_qkv = work.zeros(in[0].size());
    Head h(work, *this), d(work, *this);
    float *p = work.zeros(d_.sequence), *d_p = work.zeros(d_.sequence);
    for_each_head([&](int64_t b, int64_t head) {
      load_head(qkv, b, head, h);
      std::fill_n(d.q, 3 * head_floats_, 0.0f);
      for (int64_t i = 0; i < d_.sequence; ++i) {
        const float* d_y_i = d_y + ((b * d_.sequence + i) * d_.heads + head) * d_.head_size;
        probabilities(h, i, p);
        for (int64_t j = 0; j <= i; ++j) d_p[j] = dot(d_y_i, h.v + j * d_.head_size, d_.head_size);
        const float mean = dot(p, d_p, i + 1);
        for (int64_t j = 0; j <= i; ++j) {
          const int64_t at_j = j * d_.head_size, at_i = i * d_.head_size;
          const float d_s = scale_ * p[j] * (d_p[j] - mean);
          add_scaled(d.v + at_j, p[j], d_y_i, d_.head_size);
          add_scaled(d.q + at_i, d_s, h.k + at_j, d_.head_size);
          add_scaled(d.k + at_j, d_s, h.q + at_i, d_.head_size);
        }
      }
      store_head(d, b, head, d_qkv);
    });
    store(d_in[0], d_qkv);
  }

 private:
  // q, k and v of one head, [sequence, head_size] each, one behind the other.
  struct Head {
    Head(Workspace& work, const Attention& a) : q(work.zeros(3 * a.head_floats_)), k(q + a.head_floats_), v(k + a.head_floats_) {}
    float *q, *k, *v;
  };

  template <class F>
  void for_each_head(F f) const {
    for (int64_t b = 0; b < d_.batch; ++b)
      for (int64_t head = 0; head < d_.heads; ++head) f(b, head);
  }

  int64_t at(int64_t b, int64_t t, int64_t which, int64_t head) const {  // in qkv [batch, sequence, 3, heads, head_size]
    return (((b * d_.sequence + t) * 3 + which) * d_.heads + head) * d_.head_size;
  }

  void load_head(const float* qkv, int64_t b, int64_t head, Head& h) const {
    float* const parts[] = {h.q, h.k, h.v};
    for (int64_t which = 0; which < 3; ++which)
      for (int64_t t = 0; t < d_.sequence; ++t) {
        float* row = parts[which] + t * d_.head_size;
        std::copy_n(qkv + at(b, t, which, head), d_.head_size, row);
        if (d_.rope && which < 2) {
          rotate(row, t, 1);
          for (int64_t i = 0; i < d_.head_size; ++i) row[i] = rounded(d_.dtype, row[i]);
        }
      }
  }

  void store_head(Head& d, int64_t b, int64_t head, float* d_qkv) const {
    float* const parts[] = {d.q, d.k, d.v};
    for (int64_t which = 0; which < 3; ++which)
      for (int64_t t = 0; t < d_.sequence; ++t) {
        float* row = parts[which] + t * d_.head_size;
        if (d_.rope && which < 2) rotate(row, t, -1);  // a rotation's transpose turns back
        std::copy_n(row, d_.head_size, d_qkv + at(b, t, which, head));
      }
  }

  void rotate(float* row, int64_t t, float direction) const {
    const int64_t half = d_.head_size / 2;
    const float *cos = cos_.floats() + t * half, *sin = sin_.floats() + t * half;
    for (int64_t i = 0; i < half; ++i) {
      const float a = row[i], b = row[i + half], s = direction * sin[i];
      row[i] = a * cos[i] - b * s;
      row[i + half] = b * cos[i] + a * s;
    }
  }

  void probabilities(const Head& h, int64_t i, float* p) const {
    const float* q = h.q + i * d_.head_size;
    for (int64_t j = 0; j <= i; ++j) p[j] = scale_ * dot(q, h.k + j * d_.head_size, d_.head_size);
    const float largest = *std::max_element(p, p + i + 1);
    double sum = 0;
    for (int64_t j = 0; j <= i; ++j) sum += p[j] = std::exp(p[j] - largest);
    for (int64_t j = 0; j <= i; ++j) p[j] = float(p[j] / sum);
  }

  Engine& engine_;
  AttentionDesc d_;
  float scale_;
  int64_t head_floats_;
  Saved cos_, sin_;  // [sequence, head_size / 2]
};

}  // namespace

std::unique_ptr<Op> make_attention(Engine& engine, const AttentionDesc& desc) { return std::make_unique<Attention>(engine, desc); }

}  // namespace erg::ref
