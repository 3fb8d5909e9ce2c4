// The mean of every channel over all pixels: from blocked channels to plain rows.
#include "engine/cpu/kernels/pool.hpp"
#include "engine/cpu/layout.hpp"
#include "engine/cpu/ops.hpp"

namespace erg {
namespace {

class GlobalAvgPoolOp final : public Op {
 public:
  explicit GlobalAvgPoolOp(const GlobalAvgPoolDesc& d) : shape_(planes_of(d.dtype, d.batch, d.channels, d.height * d.width)) {}

  void forward(Inputs in, Inputs out, Mode) override {
    GlobalAvgPool pool;
    pool.shape = shape_;
    pool.x = in[0].data;
    pool.y = out[0].data;
    pool_kernels().mean_forward(pool);
  }

  void backward(Inputs, Inputs, Inputs d_out, Inputs d_in, Accumulate) override {
    if (!d_in[0]) return;
    GlobalAvgPool pool;
    pool.shape = shape_;
    pool.dy = d_out[0].data;
    pool.dx = d_in[0].data;
    pool_kernels().mean_backward(pool);
  }

 private:
  Planes shape_;
};

}  // namespace

std::unique_ptr<Op> make_cpu_global_avg_pool(CpuEngine&, const GlobalAvgPoolDesc& desc) { return std::make_unique<GlobalAvgPoolOp>(desc); }

}  // namespace erg
