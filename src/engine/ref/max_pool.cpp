// Max pooling; among equal values the first in row-major order counts, as in PyTorch. Padding never wins.
#include <limits>

#include "engine/ref/ops.hpp"
#include "engine/ref/values.hpp"

namespace erg::ref {
namespace {

class MaxPool final : public Op {
 public:
  MaxPool(Engine& engine, const MaxPoolDesc& d)
      : engine_(engine), d_(d), winner_(engine, DType::i32, {d.batch, d.channels, d.out_height(), d.out_width()}) {
    Workspace::reserve(engine, d.batch * d.channels * (d.in_height * d.in_width + d.out_height() * d.out_width()));
  }

  void forward(Inputs in, Inputs out, Mode mode) override {
    Workspace work(engine_);
    const float* x = work.load(in[0]);
    float* y = work.zeros(out[0].size());
    int32_t* winner = winner_.tensor().as<int32_t>();
    const int64_t H = d_.in_height, W = d_.in_width, OH = d_.out_height(), OW = d_.out_width();
    for (int64_t plane = 0, i = 0; plane < d_.batch * d_.channels; ++plane)
      for (int64_t oh = 0; oh < OH; ++oh)
        for (int64_t ow = 0; ow < OW; ++ow, ++i) {
          float best = -std::numeric_limits<float>::infinity();
          int64_t best_pixel = -1;
          for (int64_t kh = 0; kh < d_.kernel; ++kh)
            for (int64_t kw = 0; kw < d_.kernel; ++kw) {
              const int64_t ih = oh * d_.stride + kh - d_.padding, iw = ow * d_.stride + kw - d_.padding;
              if (ih < 0 || ih >= H || iw < 0 || iw >= W) continue;
              const float value = x[(plane * H + ih) * W + iw];
              if (best_pixel >= 0 && !(value > best)) continue;
              best = value;
              best_pixel = ih * W + iw;
            }
          y[i] = best;
          if (mode == Mode::train) winner[i] = int32_t(best_pixel);
        }
    store(out[0], y);
  }

  void backward(Inputs, Inputs, Inputs d_out, Inputs d_in, Accumulate) override {
    if (!d_in[0]) return;
    Workspace work(engine_);
    const float* d_y = work.load(d_out[0]);
    float* d_x = work.zeros(d_in[0].size());
    const int32_t* winner = winner_.tensor().as<int32_t>();
    const int64_t in_pixels = d_.in_height * d_.in_width, out_pixels = d_.out_height() * d_.out_width();
    for (int64_t i = 0; i < d_out[0].size(); ++i) d_x[i / out_pixels * in_pixels + winner[i]] += d_y[i];
    store(d_in[0], d_x);
  }

 private:
  Engine& engine_;
  MaxPoolDesc d_;
  Saved winner_;  // pixel within the input plane
};

}  // namespace

std::unique_ptr<Op> make_max_pool(Engine& engine, const MaxPoolDesc& desc) { return std::make_unique<MaxPool>(engine, desc); }

}  // namespace erg::ref
