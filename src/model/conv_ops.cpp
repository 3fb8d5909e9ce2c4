// Costs and names of the ops that ResNet is made of: convolution + batch norm, the bottleneck, and the two poolings.
#include <string>

#include "model/op_costs.hpp"

namespace erg {
namespace {

ConvBnDesc conv_of(const BottleneckDesc& b, int64_t in, int64_t height, int64_t width, int64_t out, int64_t kernel, int64_t stride) {
  ConvBnDesc d;
  d.batch = b.batch;
  d.in_channels = in, d.in_height = height, d.in_width = width;
  d.out_channels = out, d.kernel = kernel, d.stride = stride, d.padding = kernel / 2;
  d.dtype = b.dtype;
  return d;
}

std::string at(int64_t height, int64_t width) {
  return " @" + std::to_string(height) + (width == height ? "" : "x" + std::to_string(width));
}

std::string batch_and_type(int64_t batch, DType dtype) { return " b" + std::to_string(batch) + " " + std::string(name_of(dtype)); }

}  // namespace

ConvBnDesc BottleneckDesc::reduce() const { return conv_of(*this, in_channels, in_height, in_width, width, 1, 1); }

ConvBnDesc BottleneckDesc::spatial() const { return conv_of(*this, width, in_height, in_width, width, 3, stride); }

ConvBnDesc BottleneckDesc::expand() const {
  const ConvBnDesc before = spatial();
  ConvBnDesc d = conv_of(*this, width, before.out_height(), before.out_width(), 4 * width, 1, 1);
  d.residual = true;
  return d;
}

ConvBnDesc BottleneckDesc::project() const {
  ConvBnDesc d = conv_of(*this, in_channels, in_height, in_width, 4 * width, 1, stride);
  d.relu = false;
  return d;
}

namespace detail {

OpCost cost(const ConvBnDesc& d) {
  const double element = double(bytes_of(d.dtype));
  const double x = double(d.batch * d.in_channels * d.in_height * d.in_width) * element;
  const double y = double(d.batch * d.out_channels * d.out_height() * d.out_width()) * element;
  const double residual = d.residual ? y : 0;
  const int64_t weights = d.out_channels * d.in_channels * d.kernel * d.kernel;
  const double multiply_adds = double(d.batch * d.out_height() * d.out_width()) * double(weights);

  OpCost c;
  c.flops_forward = 2 * multiply_adds;
  c.flops_backward = (d.input_gradient ? 4 : 2) * multiply_adds;
  c.parameters = weights + 2 * d.out_channels;
  c.bytes_forward = x + residual + double(weights) * element + y;
  c.bytes_backward = x + 2 * y + residual + 2 * double(weights) * element + (d.input_gradient ? x : 0);
  // Before the norm, mean and 1/std. From these y follows where there is no residual; else it is the mask of ReLU.
  c.saved_bytes = y + residual + 2 * double(d.out_channels) * fp32_bytes;
  return c;
}

OpCost cost(const BottleneckDesc& d) {
  OpCost sum;
  auto add = [&sum](const ConvBnDesc& conv) {
    const OpCost c = cost(conv);
    sum.flops_forward += c.flops_forward, sum.flops_backward += c.flops_backward;
    sum.parameters += c.parameters;
    sum.bytes_forward += c.bytes_forward, sum.bytes_backward += c.bytes_backward;
    sum.saved_bytes += c.saved_bytes;
  };
  add(d.reduce());
  add(d.spatial());
  add(d.expand());
  if (d.projection) add(d.project());
  return sum;
}

OpCost cost(const MaxPoolDesc& d) {
  const double x = double(d.batch * d.channels * d.in_height * d.in_width * bytes_of(d.dtype));
  const double outputs = double(d.batch * d.channels * d.out_height() * d.out_width());
  const double y = outputs * double(bytes_of(d.dtype));
  OpCost c;
  c.bytes_forward = x + y + outputs;
  c.bytes_backward = x + y + outputs;
  c.saved_bytes = y + outputs;  // one byte an output says where in the window its maximum was
  return c;
}

OpCost cost(const GlobalAvgPoolDesc& d) {
  const double x = double(d.batch * d.channels * d.height * d.width * bytes_of(d.dtype));
  const double y = double(d.batch * d.channels * bytes_of(d.dtype));
  OpCost c;
  c.bytes_forward = c.bytes_backward = x + y;
  c.saved_bytes = y;
  return c;
}

std::string describe(const ConvBnDesc& d) {
  const std::string k = std::to_string(d.kernel), s = d.stride == 1 ? "" : "/" + std::to_string(d.stride);
  const std::string padding = d.padding == d.kernel / 2 ? "" : " p" + std::to_string(d.padding);
  return "conv " + k + "x" + k + s + padding + " " + std::to_string(d.in_channels) + "->" + std::to_string(d.out_channels) +
         at(d.in_height, d.in_width) + batch_and_type(d.batch, d.dtype) + " bn" + (d.residual ? "+add" : "") + (d.relu ? "+relu" : "") +
         (d.input_gradient ? "" : " no-dx");
}

std::string describe(const BottleneckDesc& d) {
  return "bottleneck" + (d.stride == 1 ? "" : "/" + std::to_string(d.stride)) + " " + std::to_string(d.in_channels) + "->" +
         std::to_string(d.width) + "->" + std::to_string(4 * d.width) + at(d.in_height, d.in_width) + batch_and_type(d.batch, d.dtype) +
         (d.projection ? " projection" : "");
}

std::string describe(const MaxPoolDesc& d) {
  const std::string k = std::to_string(d.kernel);
  return "maxpool " + k + "x" + k + "/" + std::to_string(d.stride) + " " + std::to_string(d.channels) + at(d.in_height, d.in_width) +
         batch_and_type(d.batch, d.dtype);
}

std::string describe(const GlobalAvgPoolDesc& d) {
  return "avgpool " + std::to_string(d.channels) + at(d.height, d.width) + batch_and_type(d.batch, d.dtype);
}

}  // namespace detail
}  // namespace erg
