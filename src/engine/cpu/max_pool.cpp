// Max pooling: which tap of each window won is one byte, kept for backward.
#include "core/error.hpp"
#include "engine/cpu/kernels/pool.hpp"
#include "engine/cpu/layout.hpp"
#include "engine/cpu/ops.hpp"

namespace erg {
namespace {

class MaxPoolOp final : public Op {
 public:
  MaxPoolOp(CpuEngine& engine, const MaxPoolDesc& d) {
    if (d.kernel > 15) throw Error(ErrorKind::usage, "windows of more than 15 x 15 are not supported", describe(d));
    const Planes out = planes_of(d.dtype, d.batch, d.channels, d.out_height() * d.out_width());
    taps_ = engine.allocate(out.elements(), "max pool winners");
    pool_.dtype = d.dtype;
    pool_.planes = out.images * out.blocks();
    pool_.block = out.block;
    pool_.in_height = d.in_height;
    pool_.in_width = d.in_width;
    pool_.out_height = d.out_height();
    pool_.out_width = d.out_width();
    pool_.kernel = d.kernel;
    pool_.stride = d.stride;
    pool_.padding = d.padding;
  }

  void forward(Inputs in, Inputs out, Mode mode) override {
    MaxPool pool = pool_;
    pool.x = in[0].data;
    pool.y = out[0].data;
    pool.taps = mode == Mode::train ? static_cast<uint8_t*>(taps_->data()) : nullptr;
    pool_kernels().max_forward(pool);
  }

  void backward(Inputs, Inputs, Inputs d_out, Inputs d_in, Accumulate) override {
    if (!d_in[0]) return;
    MaxPool pool = pool_;
    pool.taps = static_cast<uint8_t*>(taps_->data());
    pool.dy = d_out[0].data;
    pool.dx = d_in[0].data;
    pool_kernels().max_backward(pool);
  }

 private:
  MaxPool pool_;  // without its pointers
  std::unique_ptr<Buffer> taps_;
};

}  // namespace

std::unique_ptr<Op> make_cpu_max_pool(CpuEngine& engine, const MaxPoolDesc& desc) { return std::make_unique<MaxPoolOp>(engine, desc); }

}  // namespace erg
