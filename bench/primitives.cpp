#include "primitives.hpp"

#include <algorithm>

#include "core/rng.hpp"
#include "engine/cpu/layout.hpp"
#include "network_ops.hpp"

namespace erg::bench {
namespace {

using onednn::Desc;
using onednn::Tag;

struct AddAll {
  Primitives& p;
  void operator()(const ConvBnDesc& d) const { p.add_convolution(d); }
  void operator()(const BottleneckDesc& d) const {
    for (const OpDesc& conv : parts_of(d)) p.add_convolution(std::get<ConvBnDesc>(conv));
  }
  void operator()(const LinearDesc& d) const { p.add_products(d.rows, d.in, d.out, d.dtype); }
  void operator()(const ClassifierDesc& d) const { p.add_products(d.rows, d.in, d.classes, d.dtype); }
  template <class OwnKernels>
  void operator()(const OwnKernels&) const {}
};

Desc image(ImageLayout layout, DType dtype, int64_t batch, int64_t channels, int64_t height, int64_t width) {
  if (layout == ImageLayout::ours) return onednn::image(planes_of(dtype, batch, channels, height * width), height, width);
  return {{batch, channels, height, width}, onednn::type_of(dtype), Tag::nhwc};
}

// Numbers between 1 and 2 in size, whether read as bf16 or as fp32: multiplying zeros may take less power, and so less time.
void fill(const Buffer& buffer) {
  auto* const halves = static_cast<uint16_t*>(buffer.data());
  for (int64_t i = 0; i < buffer.bytes() / 2; ++i) halves[i] = uint16_t(0x3f80 | (random_bits(1, 0, uint64_t(i)) & 0x807f));
}

}  // namespace

Primitives::Primitives(Engine& engine, const OpDesc& desc, ImageLayout layout) try : layout_(layout) {
  std::visit(AddAll{*this}, desc);
  if (!empty()) allocate(engine);
} catch (const dnnl::error& e) { throw onednn::translated(e, describe(desc)); }

void Primitives::add(Calls& calls, onednn::Call call, const Desc& a, const Desc& b, const Desc& result) {
  const auto grow = [](int64_t& bytes, size_t needed) { bytes = std::max(bytes, int64_t(needed)); };
  grow(a_bytes_, a.get_size()), grow(b_bytes_, b.get_size()), grow(result_bytes_, result.get_size());
  grow(scratch_bytes_, size_t(call.scratch_bytes()));
  calls.push_back(std::move(call));
}

void Primitives::add_convolution(const ConvBnDesc& d) {
  const auto direct = dnnl::algorithm::convolution_direct;
  const dnnl::engine& engine = onednn::engine();
  const dnnl::primitive_attr attr = onednn::user_scratch();
  const Desc x = image(layout_, d.dtype, d.batch, d.in_channels, d.in_height, d.in_width);
  const Desc y = image(layout_, d.dtype, d.batch, d.out_channels, d.out_height(), d.out_width());
  const onednn::Dims shape{d.out_channels, d.in_channels, d.kernel, d.kernel}, stride{d.stride, d.stride}, padding{d.padding, d.padding};
  const Desc w(shape, onednn::type_of(d.dtype), Tag::any), dw(shape, dnnl::memory::data_type::f32, Tag::any);

  const dnnl::convolution_forward::primitive_desc forward(engine, dnnl::prop_kind::forward_training, direct, x, w, y, stride, padding,
                                                          padding, attr);
  add(forward_, {forward, {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, forward.weights_desc()}, {DNNL_ARG_DST, y}}}, x, forward.weights_desc(),
      y);
  if (d.input_gradient) {
    const dnnl::convolution_backward_data::primitive_desc data(engine, direct, x, w, y, stride, padding, padding, forward, attr);
    add(backward_, {data, {{DNNL_ARG_DIFF_DST, y}, {DNNL_ARG_WEIGHTS, data.weights_desc()}, {DNNL_ARG_DIFF_SRC, x}}}, y,
        data.weights_desc(), x);
  }
  const dnnl::convolution_backward_weights::primitive_desc weights(engine, direct, x, dw, y, stride, padding, padding, forward, attr);
  const Desc gradient = weights.diff_weights_desc();
  add(backward_, {weights, {{DNNL_ARG_SRC, x}, {DNNL_ARG_DIFF_DST, y}, {DNNL_ARG_DIFF_WEIGHTS, gradient}}}, x, y, gradient);
}

void Primitives::add_products(int64_t rows, int64_t in, int64_t out, DType dtype) {
  add_product(forward_, rows, out, in, dtype, dtype);
  add_product(backward_, rows, in, out, dtype, dtype);
  add_product(backward_, out, in, rows, dtype, DType::f32);
}

void Primitives::add_product(Calls& calls, int64_t m, int64_t n, int64_t k, DType operands, DType result) {
  const auto any = [](int64_t rows, int64_t columns, DType t) { return Desc({rows, columns}, onednn::type_of(t), Tag::any); };
  const dnnl::matmul::primitive_desc pd(onednn::engine(), any(m, k, operands), any(k, n, operands), any(m, n, result),
                                        onednn::user_scratch());
  const Desc a = pd.src_desc(), b = pd.weights_desc(), c = pd.dst_desc();
  add(calls, {pd, {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}}}, a, b, c);
}

void Primitives::allocate(Engine& engine) {
  a_ = engine.allocate(a_bytes_, "operands of primitives");
  b_ = engine.allocate(b_bytes_, "operands of primitives");
  result_ = engine.allocate(result_bytes_, "results of primitives");
  scratch_ = engine.allocate(std::max<int64_t>(scratch_bytes_, 64), "scratch of primitives");
  fill(*a_), fill(*b_);
}

void Primitives::run(Calls& calls) {
  for (onednn::Call& call : calls) call({a_->data(), b_->data(), result_->data()}, scratch_->data());
}

}  // namespace erg::bench
