// A network as an ordered list of named ops, and the numbers that follow from it.
#pragma once
#include <string>
#include <vector>

#include "model/ops.hpp"
#include "spec/spec.hpp"

namespace erg {

struct NamedOp {
  std::string name;  // "h.3.attention", "layer2.0"
  OpDesc desc;
};

struct Network {
  std::vector<NamedOp> ops;  // in forward order, of one micro-batch
  int64_t micro_batch = 0;
  int64_t samples_per_micro_batch = 0;      // images, or tokens
  int64_t parameters = 0;                   // tied weights once
  double flops_full = 0, flops_causal = 0;  // forward + backward of one micro-batch (METHOD §3)
  double saved_bytes = 0;                   // activations one micro-batch in flight keeps
};

// GPT-2's shape (Radford et al. 2019): pre-norm blocks, tied head. `dtype` is the activations' type.
Network gpt_network(const GptShape& shape, int64_t micro_batch, DType dtype, double loss_scale = 1);
// ResNet-50 v1.5 (stride in the 3x3), or a narrower, shallower one of the same kind for tests.
Network resnet_network(const ResNetShape& shape, int64_t micro_batch, DType dtype, float label_smoothing = 0, double loss_scale = 1);
Network make_network(const Spec& spec, DType dtype);

// METHOD §3's closed forms, for a whole step. convention: "full", "causal", "hardware" (with what is recomputed) or "caraml".
double gpt_step_flops(const GptShape& shape, int64_t global_batch, const std::string& convention, Recompute recompute = Recompute::none);
double resnet_image_macs(const ResNetShape& shape);      // forward multiply-adds: 4 089 184 256 for ResNet-50 at 224
double resnet_training_flops(const ResNetShape& shape);  // per image: 24.299e9
int64_t gpt_parameters(const GptShape& shape);           // with the padded vocabulary; pass padded = vocabulary for GPT-2's 124 439 808
int64_t resnet_parameters(const ResNetShape& shape);

}  // namespace erg
