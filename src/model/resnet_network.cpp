// ResNet-50 v1.5 as a list of ops: He et al. 2015 (arXiv 1512.03385), table 1, with the stride of a down-sampling block in its
// 3x3 convolution, as torchvision and MLPerf have it.
#include "model/network_builder.hpp"

namespace erg {

Network resnet_network(const ResNetShape& shape, int64_t micro_batch, DType dtype, float label_smoothing, double loss_scale) {
  detail::require(micro_batch > 0, "the micro-batch is " + std::to_string(micro_batch),
                  "set workload.micro_batch or global_batch to at least 1");
  detail::require(shape.image_size > 0 && shape.classes > 0 && shape.width > 0 && !shape.blocks.empty(),
                  "a size of the ResNet is not positive", "give image_size, classes, width and blocks of at least 1");
  Network n;
  n.micro_batch = n.samples_per_micro_batch = micro_batch;

  ConvBnDesc stem;
  stem.batch = micro_batch;
  stem.in_channels = 3, stem.in_height = stem.in_width = shape.image_size;
  stem.out_channels = shape.width, stem.kernel = 7, stem.stride = 2, stem.padding = 3;
  stem.input_gradient = false;  // nobody needs the image's gradient
  stem.dtype = dtype;
  n.ops.push_back({"stem", stem});

  MaxPoolDesc pool;
  pool.batch = micro_batch, pool.channels = shape.width;
  pool.in_height = stem.out_height(), pool.in_width = stem.out_width();
  pool.dtype = dtype;
  n.ops.push_back({"pool", pool});

  int64_t channels = shape.width, size = pool.out_height();
  for (size_t layer = 0; layer < shape.blocks.size(); ++layer) {
    for (int64_t block = 0; block < shape.blocks[layer]; ++block) {
      BottleneckDesc b;
      b.batch = micro_batch;
      b.in_channels = channels, b.in_height = b.in_width = size;
      b.width = shape.width << layer;
      b.stride = layer > 0 && block == 0 ? 2 : 1;
      b.projection = block == 0;  // where the number of channels or the size changes
      b.dtype = dtype;
      n.ops.push_back({"layer" + std::to_string(layer + 1) + "." + std::to_string(block), b});
      channels = 4 * b.width;
      size = b.expand().out_height();
    }
  }

  n.ops.push_back({"avgpool", GlobalAvgPoolDesc{micro_batch, channels, size, size, dtype}});
  ClassifierDesc head;
  head.rows = micro_batch, head.in = channels, head.classes = shape.classes;
  head.bias = true;
  head.label_smoothing = label_smoothing;
  head.loss_scale = loss_scale;
  head.dtype = dtype;
  n.ops.push_back({"head", head});
  detail::add_totals(n);
  return n;
}

}  // namespace erg
