// The pieces of work that a training step is made of, as a profile shows them: what kind each is, its FLOPs and its minimum traffic.
// An engine's op that does several kinds of work tells them apart with these; any other op is one piece a pass.
#pragma once
#include "model/ops.hpp"

namespace erg {

struct Work {
  const char* kind = "";        // a row of the profile, such as "convolution forward"
  double flops = 0, bytes = 0;  // a multiply or an add; every operand and result once
};

enum class Pass { forward, input_gradient, weight_gradient };

Work convolution_work(const ConvBnDesc&, Pass);
Work batch_norm_forward_work(const ConvBnDesc&);   // statistics, normalisation, residual add and ReLU
Work batch_norm_backward_work(const ConvBnDesc&);  // masks, both sums, dz and the residual's gradient
Work product_work(const LinearDesc&, Pass);
Work product_work(const ClassifierDesc&, Pass);
Work activation_forward_work(const LinearDesc&);        // nothing where there is no activation
Work activation_backward_work(const LinearDesc&);       // with the gradient of the bias
inline constexpr Work loss_work = {"classifier loss"};  // softmax, cross-entropy and their gradient, on logits that stay in cache

// An op as one piece.
Work forward_work(const OpDesc&);
Work backward_work(const OpDesc&);

inline constexpr const char* other_work = "other";
bool is_product(const Work&);  // a GEMM: told apart by site

}  // namespace erg
