#include "engine/cpu/convolution.hpp"

#include <array>
#include <string_view>

#include "engine/cpu/layout.hpp"
#include "engine/cpu/tuner.hpp"

namespace erg {
namespace {

using onednn::Desc;
using onednn::Dims;
using onednn::Tag;

constexpr auto algorithm = dnnl::algorithm::convolution_direct;

// The tensors and window of a convolution, as oneDNN wants them with our image layout.
struct Problem {
  Planes x_planes, z_planes;
  Desc x, z, w, dw;
  Dims stride, padding;
  dnnl::primitive_attr attr = onednn::user_scratch();

  explicit Problem(const ConvBnDesc& d)
      : x_planes(planes_of(d.dtype, d.batch, d.in_channels, d.in_height * d.in_width)),
        z_planes(planes_of(d.dtype, d.batch, d.out_channels, d.out_height() * d.out_width())),
        x(onednn::image(x_planes, d.in_height, d.in_width)),
        z(onednn::image(z_planes, d.out_height(), d.out_width())),
        w({d.out_channels, d.in_channels, d.kernel, d.kernel}, onednn::type_of(d.dtype), Tag::any),
        dw({d.out_channels, d.in_channels, d.kernel, d.kernel}, dnnl::memory::data_type::f32, Tag::any),
        stride{d.stride, d.stride},
        padding{d.padding, d.padding} {}

  dnnl::convolution_forward::primitive_desc forward() const {
    return {onednn::engine(), dnnl::prop_kind::forward_training, algorithm, x, w, z, stride, padding, padding, attr};
  }
};

std::string name_of(const ConvBnDesc& d, const char* pass) {
  ConvBnDesc bare = d;  // what follows the convolution does not count
  bare.residual = bare.relu = false, bare.input_gradient = true;
  return describe(bare) + ", " + pass;
}

int64_t size_of(const Desc& d) { return int64_t(d.get_size()); }

// oneDNN's own kernels for what `make` describes, its first choice first; plain loops only where it has nothing else.
template <class Make>
auto implementations(Make make) {
  using PrimitiveDesc = decltype(make());
  std::vector<PrimitiveDesc> all = {make()};
  for (size_t n = 1;; ++n) {
    PrimitiveDesc next = make();
    size_t steps = 0;
    while (steps < n && next.next_impl()) ++steps;
    const std::string_view name = next.impl_info_str();
    if (steps < n || (!name.starts_with("jit") && !name.starts_with("brg"))) return all;
    all.push_back(next);
  }
}

// A pass's three arguments, the result last, and their indices.
template <class PrimitiveDesc>
std::array<Desc, 3> tensors_of(const PrimitiveDesc& pd);
template <>
std::array<Desc, 3> tensors_of(const dnnl::convolution_forward::primitive_desc& pd) {
  return {pd.src_desc(), pd.weights_desc(), pd.dst_desc()};
}
template <>
std::array<Desc, 3> tensors_of(const dnnl::convolution_backward_data::primitive_desc& pd) {
  return {pd.diff_dst_desc(), pd.weights_desc(), pd.diff_src_desc()};
}
template <>
std::array<Desc, 3> tensors_of(const dnnl::convolution_backward_weights::primitive_desc& pd) {
  return {pd.src_desc(), pd.diff_dst_desc(), pd.diff_weights_desc()};
}

constexpr std::array<int, 3> forward_arguments = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};
constexpr std::array<int, 3> input_gradient_arguments = {DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_SRC};
constexpr std::array<int, 3> weight_gradient_arguments = {DNNL_ARG_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS};

template <class PrimitiveDesc>
onednn::Call call_of(const PrimitiveDesc& pd, const std::array<int, 3>& arguments) {
  const auto tensors = tensors_of(pd);
  return {pd, {{arguments[0], tensors[0]}, {arguments[1], tensors[1]}, {arguments[2], tensors[2]}}};
}

template <class PrimitiveDesc>
Candidate candidate_of(CpuEngine& engine, const PrimitiveDesc& pd, const std::array<int, 3>& arguments) {
  return {pd.impl_info_str(), [&engine, pd, &arguments]() -> std::function<void()> {
            const auto t = tensors_of(pd);
            const auto call = std::make_shared<onednn::Call>(call_of(pd, arguments));
            const auto trial = std::make_shared<Trial>(
                engine, std::initializer_list<int64_t>{size_of(t[0]), size_of(t[1]), size_of(t[2]), call->scratch_bytes()});
            return [call, trial] { (*call)({(*trial)[0], (*trial)[1], (*trial)[2]}, (*trial)[3]); };
          }};
}

template <class Make>
auto fastest(CpuEngine& engine, const ConvBnDesc& d, const char* pass, Make make, const std::array<int, 3>& arguments) {
  const auto all = implementations(make);
  std::vector<Candidate> candidates;
  for (const auto& pd : all) candidates.push_back(candidate_of(engine, pd, arguments));
  return all[choose(engine, name_of(d, pass), convolution_work(d, Pass::forward).flops, candidates)];
}

}  // namespace

ConvolutionForward::ConvolutionForward(CpuEngine& engine, const ConvBnDesc& d) {
  const Problem p(d);
  const auto pd = fastest(
      engine, d, "forward", [&] { return p.forward(); }, forward_arguments);
  weights_ = pd.weights_desc();
  call_ = call_of(pd, forward_arguments);
}

ConvolutionInputGradient::ConvolutionInputGradient(CpuEngine& engine, const ConvBnDesc& d, Kind kind) {
  const Problem p(d);
  if (kind == Kind::write) {
    const auto forward = p.forward();
    const auto make = [&] {
      return dnnl::convolution_backward_data::primitive_desc(onednn::engine(), algorithm, p.x, p.w, p.z, p.stride, p.padding, p.padding,
                                                             forward, p.attr);
    };
    const auto pd = fastest(engine, d, "input gradient", make, input_gradient_arguments);
    weights_ = pd.weights_desc();
    call_ = call_of(pd, input_gradient_arguments);
    return;
  }
  if (d.kernel != 1 || d.stride != 1 || d.padding != 0)
    throw Error(ErrorKind::failed, "only a 1x1 convolution of stride 1 adds to its input gradient", describe(d));
  dnnl::post_ops sum;
  sum.append_sum(1.0f);
  dnnl::primitive_attr attr = onednn::user_scratch();
  attr.set_post_ops(sum);
  const Desc transposed({d.in_channels, d.out_channels, 1, 1}, onednn::type_of(d.dtype), Tag::any);
  const auto make = [&] {
    return dnnl::convolution_forward::primitive_desc(onednn::engine(), dnnl::prop_kind::forward_inference, algorithm, p.z, transposed, p.x,
                                                     p.stride, p.padding, p.padding, attr);
  };
  const auto pd = fastest(engine, d, "added input gradient", make, forward_arguments);
  weights_ = pd.weights_desc().permute_axes({1, 0, 2, 3});
  call_ = call_of(pd, forward_arguments);
}

ConvolutionWeightGradient::ConvolutionWeightGradient(CpuEngine& engine, const ConvBnDesc& d) {
  const Problem p(d);
  const auto forward = p.forward();
  const auto all = implementations([&] {
    return dnnl::convolution_backward_weights::primitive_desc(onednn::engine(), algorithm, p.x, p.dw, p.z, p.stride, p.padding, p.padding,
                                                              forward, p.attr);
  });
  std::vector<Candidate> candidates;
  for (const auto& pd : all) candidates.push_back(candidate_of(engine, pd, weight_gradient_arguments));

  const Desc ours({d.out_channels, d.in_channels, 1, 1}, dnnl::memory::data_type::f32, Tag::OIhw16i16o);
  PointwiseGradient pointwise;
  if (d.kernel == 1 && d.padding == 0 && p.x_planes.block == 16 && p.z_planes.block == 16) {
    pointwise.dtype = d.dtype;
    pointwise.images = d.batch;
    pointwise.in_blocks = p.x_planes.blocks(), pointwise.out_blocks = p.z_planes.blocks();
    pointwise.in_height = d.in_height, pointwise.in_width = d.in_width, pointwise.stride = d.stride;
    pointwise.threads = engine.threads();
    candidates.push_back({"pointwise", [&]() -> std::function<void()> {
                            const auto trial = std::make_shared<Trial>(
                                engine, std::initializer_list<int64_t>{size_of(p.x), size_of(p.z), size_of(ours),
                                                                       pointwise_kernels().workspace_bytes(pointwise)});
                            PointwiseGradient g = pointwise;
                            g.x = (*trial)[0], g.dz = (*trial)[1], g.dw = static_cast<float*>((*trial)[2]), g.workspace = (*trial)[3];
                            return [trial, g] { pointwise_kernels().weight_gradient(g); };
                          }});
  }
  const size_t chosen = choose(engine, name_of(d, "weight gradient"), convolution_work(d, Pass::weight_gradient).flops, candidates);
  if (chosen == all.size()) {
    weights_ = ours;
    pointwise_ = pointwise;
    scratch_bytes_ = pointwise_kernels().workspace_bytes(pointwise);
  } else {
    weights_ = all[chosen].diff_weights_desc();
    call_ = call_of(all[chosen], weight_gradient_arguments);
    scratch_bytes_ = call_.scratch_bytes();
  }
}

void ConvolutionWeightGradient::operator()(const void* x, const void* dz, float* dw, void* scratch) {
  if (call_) return call_({x, dz, dw}, scratch);
  PointwiseGradient g = pointwise_;
  g.x = x, g.dz = dz, g.dw = dw, g.workspace = scratch;
  pointwise_kernels().weight_gradient(g);
}

}  // namespace erg
