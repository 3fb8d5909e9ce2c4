// Training against PyTorch from the same weights and data (docs/reference.md): losses of ten steps, gradient norms of the first step
// per tensor, and the evaluation after them. fp32 within 1e-4; bf16 within 2e-2 of PyTorch's fp32 or bf16, whichever is nearer; a
// gradient norm also within what rounding does to that gradient in PyTorch itself.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "support.hpp"

namespace erg::test {
namespace {

using Case = std::tuple<std::string, std::string, DType>;  // engine, reference file, precision

double relative(double value, double truth) { return std::abs(value - truth) / std::abs(truth); }

// Distance to the nearest of the PyTorch runs that count for this precision; infinite when the value is not a number.
template <class Get>
double distance(double value, const Reference& reference, DType dtype, Get truth) {
  double nearest = relative(value, truth(reference.runs.at("fp32")));
  if (dtype == DType::bf16) nearest = std::min(nearest, relative(value, truth(reference.runs.at("bf16"))));
  return std::isnan(nearest) ? std::numeric_limits<double>::infinity() : nearest;
}

template <class Norms>
double total(const Norms& norms) {
  double squares = 0;
  for (const auto& [tensor, norm] : norms) squares += norm * norm;
  return std::sqrt(squares);
}

class Torch : public ::testing::TestWithParam<Case> {
 protected:
  void compare() {
    const auto& [name, file, dtype] = GetParam();
    ERG_OPEN_ENGINE(engine, name, dtype);
    Reference reference = load_reference(file);
    reference.spec.workload.precision = dtype == DType::f32 ? Precision::fp32 : Precision::bf16;
    const double tolerance = dtype == DType::f32 ? 1e-4 : 2e-2;

    const Trained ours = train(reference.spec, *engine, 10, fixed_batches(reference.spec.workload));

    for (size_t step = 0; step < 10; ++step) {
      EXPECT_LE(distance(ours.losses[step], reference, dtype, [&](const TorchRun& r) { return r.losses.at(step); }), tolerance)
          << "loss of step " << step + 1 << ": " << ours.losses[step];
    }
    ASSERT_EQ(ours.first_norms.size(), reference.runs.at("fp32").norms.size());
    for (const auto& [tensor, norm] : ours.first_norms) {
      ASSERT_TRUE(reference.runs.at("fp32").norms.count(tensor)) << tensor;
      const double rounding = reference.runs.at(std::string(erg::name_of(dtype))).rounding.at(tensor);
      EXPECT_LE(distance(norm, reference, dtype, [&, t = tensor](const TorchRun& r) { return r.norms.at(t); }),
                std::max(tolerance, rounding))
          << "gradient norm of " << tensor << ": " << norm;
    }
    // Rounding of single tensors averages out over all of them.
    EXPECT_LE(distance(total(ours.first_norms), reference, dtype, [&](const TorchRun& r) { return total(r.norms); }), tolerance)
        << "gradient norm of the whole network: " << total(ours.first_norms);
    EXPECT_LE(distance(ours.validation.loss, reference, dtype, [](const TorchRun& r) { return r.evaluation_loss; }), tolerance)
        << "evaluation loss: " << ours.validation.loss;
    if (dtype == DType::f32) { EXPECT_NEAR(ours.validation.top1, reference.runs.at("fp32").evaluation_top1, 1e-6); }
  }
};

std::string name_of_case(const ::testing::TestParamInfo<Case>& info) {
  const auto& [engine, file, dtype] = info.param;
  std::string name = engine + "_" + file + "_" + std::string(erg::name_of(dtype));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

using ::testing::Combine;
using ::testing::Values;

TEST_P(Torch, TenStepsAreEqual) { compare(); }
INSTANTIATE_TEST_SUITE_P(Tiny, Torch,
                         Combine(Values("ref", "cpu"),
                                 Values("gpt-tiny", "gpt-tiny-rope-odd", "gpt-tiny-accumulate", "resnet-tiny", "resnet-tiny-odd",
                                        "resnet-tiny-accumulate"),
                                 Values(DType::f32, DType::bf16)),
                         name_of_case);

class FullTorch : public Torch {};
TEST_P(FullTorch, TenStepsAreEqual) { compare(); }
INSTANTIATE_TEST_SUITE_P(Presets, FullTorch,
                         Combine(Values("cpu"), Values("gpt-117m", "gpt-117m-8k", "resnet50"), Values(DType::f32, DType::bf16)),
                         name_of_case);

}  // namespace
}  // namespace erg::test
