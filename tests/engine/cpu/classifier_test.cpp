// Softmax, cross-entropy and gradient of a chunk of logits against the formulas in double: every instruction set is a test.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/rng.hpp"
#include "tables.hpp"

namespace erg::test {
namespace {

struct Chunk {
  DType dtype;
  int64_t rows, classes, valid;
  double spread;  // of the logits
  float smoothing = 0;
  bool biased = false;
  int64_t block = 0;  // of classes; 0: all in one
};

class ClassifierKernel : public testing::TestWithParam<Tables> {
 protected:
  void check(const Chunk& s) {
    SCOPED_TRACE(testing::Message() << name_of(s.dtype) << " " << s.rows << "x" << s.classes << " valid " << s.valid << " spread "
                                    << s.spread);
    const int64_t count = s.rows * s.classes;
    const auto value = [&](int64_t i) { return random_centered(1, 0, uint64_t(i), s.spread); };
    const auto bias_of = [&](int64_t k) { return s.biased ? float(k % 7) / 4 : 0.0f; };
    Array logits(DType::f32, count, value), p(s.dtype, count);
    Array complete(DType::f32, count, [&](int64_t i) { return logits[i] + bias_of(i / s.rows); });
    std::vector<float> bias;
    for (int64_t k = 0; k < s.classes; ++k) bias.push_back(bias_of(k));
    std::vector<int32_t> targets;
    for (int64_t r = 0; r < s.rows; ++r) targets.push_back(r % 5 == 3 ? -1 : int32_t(random_bits(1, 1, uint64_t(r)) % uint64_t(s.valid)));
    std::vector<float> losses(size_t(s.rows)), hits(losses);
    ClassifierChunk c;
    c.dtype = s.dtype, c.rows = s.rows, c.classes = s.classes, c.valid = s.valid, c.block = s.block > 0 ? s.block : s.classes;
    c.bias = s.biased ? bias.data() : nullptr, c.targets = targets.data();
    c.smoothing = s.smoothing, c.scale = 0.25f;
    c.p = p.data(), c.losses = losses.data(), c.hits = hits.data();
    std::vector<float> workspace(size_t(classifier_workspace(c)), std::nanf(""));  // as scratch may be
    c.workspace = workspace.data();
    const ClassifierKernels& kernels = *GetParam().classifier;
    for (int64_t b = 0; b < c.blocks(); ++b) kernels.exponentials(c, b, static_cast<float*>(logits.data()) + c.first_class(b) * s.rows);
    kernels.losses(c);
    for (int64_t b = 0; b < c.blocks(); ++b) kernels.gradient(c, b);

    for (int64_t r = 0; r < s.rows; ++r) {
      const auto logit = [&](int64_t k) { return complete[k * s.rows + r]; };
      double largest = logit(0), sum = 0, sum_log_p = 0;
      for (int64_t k = 0; k < s.valid; ++k) largest = std::max(largest, logit(k));
      for (int64_t k = 0; k < s.valid; ++k) sum += std::exp(logit(k) - largest);
      const double log_sum = largest + std::log(sum);
      for (int64_t k = 0; k < s.valid; ++k) sum_log_p += logit(k) - log_sum;
      const int32_t target = targets[size_t(r)];
      const bool counts = target >= 0;
      const double log_p = counts ? logit(target) - log_sum : 0;
      const double loss = counts ? -(1 - s.smoothing) * log_p - s.smoothing / double(s.valid) * sum_log_p : 0;
      const double accuracy = 1e-6 * (2 + std::abs(largest) + s.spread);  // fp32 of numbers as large as the logits
      ASSERT_NEAR(losses[size_t(r)], loss, accuracy);
      bool first_largest = counts && logit(target) == largest;
      for (int64_t k = 0; k < target; ++k) first_largest &= logit(k) != largest;
      ASSERT_EQ(hits[size_t(r)], first_largest ? 1 : 0);
      for (int64_t k = 0; k < s.classes; ++k) {
        const double q = (k == target ? 1 - s.smoothing : 0) + s.smoothing / double(s.valid);
        const double truth = counts && k < s.valid ? 0.25 * (std::exp(logit(k) - log_sum) - q) : 0;
        const double rounding = s.dtype == DType::bf16 ? 0x1p-7 * std::abs(truth) : 0;  // of p, and of the gradient made of it
        ASSERT_NEAR(p[k * s.rows + r], truth, accuracy * 0.25 + rounding) << "row " << r << " class " << k << " target " << target;
      }
    }
  }
};

// Sizes around vectors of 16 rows, groups of 8 classes and the 64 parts of a block; fewer classes than parts; a smaller last block.
TEST_P(ClassifierKernel, LossAndGradient) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    check({dtype, 1, 2, 2, 1});
    check({dtype, 33, 100, 97, 3});
    check({dtype, 70, 48, 48, 2});
    check({dtype, 32, 35, 31, 1, 0.1f});
    check({dtype, 20, 1030, 1030, 2, 0.1f, true});
    check({dtype, 17, 700, 650, 3, 0, true, 300});
    check({dtype, 16, 260, 90, 3, 0.2f, false, 100});  // whole blocks that are not valid
  }
}

TEST_P(ClassifierKernel, LargeLogitsDoNotOverflow) { check({DType::f32, 17, 65, 64, 1e4}); }

// A network that says the same of every class is right only about the first.
TEST_P(ClassifierKernel, OfEqualLogitsTheFirstIsTheAnswer) {
  check({DType::f32, 40, 48, 37, 0});
  check({DType::f32, 40, 48, 48, 0, 0, false, 10});
  check({DType::f32, 40, 3, 3, 0});
}

TEST_P(ClassifierKernel, BrokenLogitsGiveABrokenLoss) {
  std::vector<float> logits(40, 1.0f), workspace(10000);
  logits[7] = std::nanf("");
  const int32_t target = 0;
  float loss = 0, hit = 0;
  ClassifierChunk c;
  c.rows = 1, c.classes = c.valid = c.block = 40;
  c.p = logits.data(), c.targets = &target, c.losses = &loss, c.hits = &hit, c.workspace = workspace.data();
  GetParam().classifier->exponentials(c, 0, logits.data());
  GetParam().classifier->losses(c);
  EXPECT_TRUE(std::isnan(loss));
}

INSTANTIATE_TEST_SUITE_P(Isa, ClassifierKernel, testing::ValuesIn(tables_here()), isa_name);

}  // namespace
}  // namespace erg::test
