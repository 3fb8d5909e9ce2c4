// The pieces of an op are the op: their FLOPs add up to cost()'s, and their bytes are counts done by hand.
#include "model/work.hpp"

#include <gtest/gtest.h>

#include <string>

namespace erg {
namespace {

constexpr Pass passes[] = {Pass::forward, Pass::input_gradient, Pass::weight_gradient};

TEST(Work, ConvolutionPassesAddUpToTheOp) {
  ConvBnDesc d{2, 3, 8, 10, 5, 3, 2, 1};  // out 2 x 5 x 4 x 5 = 200 elements, weights 135, x 480
  d.dtype = DType::bf16;
  double flops = 0;
  for (const Pass pass : passes) flops += convolution_work(d, pass).flops;
  EXPECT_EQ(flops, cost(d).flops_forward + cost(d).flops_backward);
  EXPECT_EQ(convolution_work(d, Pass::forward).bytes, 2 * (480 + 200 + 135));
  EXPECT_EQ(convolution_work(d, Pass::weight_gradient).bytes, 2 * (480 + 200) + 4 * 135);  // sums are fp32
  EXPECT_STREQ(convolution_work(d, Pass::input_gradient).kind, "convolution input gradient");
}

TEST(Work, BatchNormMovesEachTensorOnce) {
  ConvBnDesc d{2, 3, 8, 10, 5, 3, 2, 1};
  d.dtype = DType::bf16;
  EXPECT_EQ(batch_norm_forward_work(d).bytes, 2 * 200 * 2);   // z -> y
  EXPECT_EQ(batch_norm_backward_work(d).bytes, 3 * 200 * 2);  // z, dy -> dz
  d.residual = true;
  EXPECT_EQ(batch_norm_forward_work(d).bytes, 3 * 200 * 2);
  EXPECT_EQ(batch_norm_backward_work(d).bytes, 5 * 200 * 2);  // and y -> d_residual
}

TEST(Work, ProductsAddUpToTheOp) {
  const LinearDesc linear{7, 33, 3, true, Activation::gelu_tanh, DType::f32};
  ClassifierDesc head;
  head.rows = 5, head.in = 64, head.classes = 97;
  double of_linear = 0, of_head = 0;
  for (const Pass pass : passes) of_linear += product_work(linear, pass).flops, of_head += product_work(head, pass).flops;
  EXPECT_EQ(of_linear, 3 * 2 * 7 * 33 * 3);
  EXPECT_EQ(of_head, backward_work(head).flops);  // it trains in one call
  EXPECT_EQ(of_head, 3 * 2 * 5 * 64 * 97);
  EXPECT_EQ(product_work(linear, Pass::forward).bytes, 4 * (7 * 33 + 7 * 3 + 33 * 3));
  EXPECT_EQ(activation_forward_work(linear).bytes, 4 * 2 * 21);
  EXPECT_EQ(activation_backward_work(linear).bytes, 4 * 3 * 21);
  EXPECT_TRUE(is_product(product_work(head, Pass::forward)));
  EXPECT_FALSE(is_product(activation_forward_work(linear)));
}

TEST(Work, AttentionIsItsCausalHalf) {
  const AttentionDesc d{2, 64, 3, 16, false, DType::f32};
  EXPECT_EQ(forward_work(d).flops, 2.0 * 2 * 64 * 64 * 3 * 16);
  EXPECT_EQ(backward_work(d).flops, 2 * forward_work(d).flops);
  EXPECT_EQ(forward_work(d).bytes, cost(d).bytes_forward);
  EXPECT_STREQ(backward_work(d).kind, "attention backward");
}

}  // namespace
}  // namespace erg
