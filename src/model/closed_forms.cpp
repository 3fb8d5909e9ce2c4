// METHOD §3's closed forms of FLOPs and parameters. They share nothing with the op lists; the tests hold the two against each other.
#include "core/error.hpp"
#include "model/network.hpp"

namespace erg {
namespace {

// One convolution of table 1 of He et al. 2015, in the order of the network.
struct Conv {
  int64_t in, out, kernel, out_size;
};

int64_t halved(int64_t size) { return (size + 1) / 2; }  // every stride-2 layer of ResNet keeps the rounded-up half

std::vector<Conv> resnet_convolutions(const ResNetShape& shape) {
  int64_t size = halved(shape.image_size);
  std::vector<Conv> convs = {{3, shape.width, 7, size}};
  size = halved(size);
  int64_t in = shape.width, width = shape.width;
  for (size_t layer = 0; layer < shape.blocks.size(); ++layer, width *= 2) {
    for (int64_t block = 0; block < shape.blocks[layer]; ++block) {
      const int64_t before = size;
      if (layer > 0 && block == 0) size = halved(size);
      convs.push_back({in, width, 1, before});
      convs.push_back({width, width, 3, size});
      convs.push_back({width, 4 * width, 1, size});
      if (block == 0) convs.push_back({in, 4 * width, 1, size});
      in = 4 * width;
    }
  }
  return convs;
}

int64_t features(const ResNetShape& shape) { return shape.width << (shape.blocks.size() + 1); }  // 4 x the last layer's width

double macs(const Conv& c) { return double(c.in * c.out * c.kernel * c.kernel) * double(c.out_size * c.out_size); }

}  // namespace

double gpt_step_flops(const GptShape& g, int64_t global_batch, const std::string& convention, Recompute recompute) {
  const double s = double(g.sequence), h = double(g.hidden), f = double(g.ffn), L = double(g.layers), V = double(g.padded_vocabulary);
  const double tokens = double(global_batch) * s;
  // Narayanan et al. 2021 (arXiv 2104.04473), equation 3, as CARAML prints it: one more forward pass of everything, f = 4h.
  if (convention == "caraml") return 96 * tokens * L * h * h * (1 + s / (6 * h) + V / (16 * L * h));

  // Korthikanti et al. 2022 (arXiv 2205.05198), equation 7; for f = 4h this is 72 B L s h^2 (1 + s/(6h) + V/(12hL)).
  const double layer_products = 2 * tokens * (4 * h * h + 2 * h * f);  // forward, one layer
  const double attention_full = 4 * tokens * s * h;                    // forward, one layer
  const double attention_causal = attention_full / 2;
  const double head = 2 * tokens * h * V;
  if (convention == "full") return 3 * (L * (layer_products + attention_full) + head);
  const double causal = 3 * (L * (layer_products + attention_causal) + head);
  if (convention == "causal") return causal;
  if (convention == "hardware") {
    // Flash attention's backward makes Q K^T, half of its forward, again (Dao 2023, arXiv 2307.08691, section 3.1).
    double again = attention_causal / 2;
    if (recompute == Recompute::selective) again += attention_causal;
    if (recompute == Recompute::full) again += layer_products + attention_causal;
    return causal + L * again;
  }
  throw Error(ErrorKind::usage, "no FLOP convention \"" + convention + "\"", "model", "use full, causal, hardware or caraml");
}

double resnet_image_macs(const ResNetShape& shape) {
  double sum = double(features(shape) * shape.classes);
  for (const Conv& c : resnet_convolutions(shape)) sum += macs(c);
  return sum;
}

double resnet_training_flops(const ResNetShape& shape) {
  return 6 * resnet_image_macs(shape) - 2 * macs(resnet_convolutions(shape).front());
}

int64_t gpt_parameters(const GptShape& g) {
  const int64_t h = g.hidden, f = g.ffn;
  const int64_t block = 4 * h * h + 4 * h + 2 * h * f + f + h + 4 * h;  // qkv and proj, up and down, two norms
  return (g.padded_vocabulary + (g.positions == Positions::learned ? g.sequence : 0)) * h + g.layers * block + 2 * h;
}

int64_t resnet_parameters(const ResNetShape& shape) {
  int64_t sum = (features(shape) + 1) * shape.classes;
  for (const Conv& c : resnet_convolutions(shape)) sum += c.in * c.out * c.kernel * c.kernel + 2 * c.out;
  return sum;
}

}  // namespace erg
