// The mean of every channel over all pixels.
#include "engine/ref/ops.hpp"
#include "engine/ref/values.hpp"

namespace erg::ref {
namespace {

class GlobalAvgPool final : public Op {
 public:
  GlobalAvgPool(Engine& engine, const GlobalAvgPoolDesc& d) : engine_(engine), d_(d), pixels_(d.height * d.width) {
    Workspace::reserve(engine, d.batch * d.channels * (pixels_ + 1));
  }

  void forward(Inputs in, Inputs out, Mode) override {
    Workspace work(engine_);
    const float* x = work.load(in[0]);
    float* y = work.zeros(d_.batch * d_.channels);
    for (int64_t plane = 0; plane < d_.batch * d_.channels; ++plane) {
      double sum = 0;
      for (int64_t p = 0; p < pixels_; ++p) sum += x[plane * pixels_ + p];
      y[plane] = float(sum / double(pixels_));
    }
    store(out[0], y);
  }

  void backward(Inputs, Inputs, Inputs d_out, Inputs d_in, Accumulate) override {
    if (!d_in[0]) return;
    Workspace work(engine_);
    const float* d_y = work.load(d_out[0]);
    float* d_x = work.zeros(d_in[0].size());
    for (int64_t i = 0; i < d_in[0].size(); ++i) d_x[i] = d_y[i / pixels_] / float(pixels_);
    store(d_in[0], d_x);
  }

 private:
  Engine& engine_;
  GlobalAvgPoolDesc d_;
  int64_t pixels_;
};

}  // namespace

std::unique_ptr<Op> make_global_avg_pool(Engine& engine, const GlobalAvgPoolDesc& desc) {
  return std::make_unique<GlobalAvgPool>(engine, desc);
}

}  // namespace erg::ref
