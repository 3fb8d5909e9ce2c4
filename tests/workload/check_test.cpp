// The check phase: its keys, its verdicts, and that what is compiled in is what PyTorch's files say.
#include "workload/check.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>

#include "support.hpp"

namespace erg::test {
namespace {

using Verdict = CheckResult::Verdict;

TEST(ReferenceKey, NamesTheArchitectureAndTheSmallBatch) {
  Spec spec;
  spec.workload.kind = WorkloadKind::gpt;
  EXPECT_EQ(reference_key(spec), "gpt-L12-h768-a12-f3072-v50257-V50304-learned-s64");
  spec.workload.gpt.sequence = 16;
  spec.workload.gpt.positions = Positions::rope;
  EXPECT_EQ(reference_key(spec), "gpt-L12-h768-a12-f3072-v50257-V50304-rope-s16");
  spec.workload.kind = WorkloadKind::resnet50;
  EXPECT_EQ(reference_key(spec), "resnet-3.4.6.3-w64-i224-c1000");
}

TEST(ReferenceKey, IsThatOfEveryReferenceFile) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(ERG_SOURCE_DIR) + "/tests/reference")) {
    if (entry.path().extension() != ".json") continue;
    const Reference reference = load_reference(entry.path().stem().string());
    EXPECT_EQ(reference_key(reference.spec), reference.key) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 7);
}

class Check : public ::testing::TestWithParam<std::tuple<std::string, std::string, DType>> {};
INSTANTIATE_TEST_SUITE_P(Tiny, Check,
                         ::testing::Combine(::testing::Values("ref", "cpu"), ::testing::Values("gpt-tiny", "resnet-tiny"),
                                            ::testing::Values(DType::f32, DType::bf16)));

// The run's own batch, optimizer and seed do not matter to the check.
TEST_P(Check, PassesOnTheReferenceWhateverTheRun) {
  const auto& [name, file, dtype] = GetParam();
  ERG_OPEN_ENGINE(engine, name, dtype);
  Reference reference = load_reference(file);
  Spec& spec = reference.spec;
  spec.workload.global_batch = 64, spec.workload.micro_batch = 16, spec.workload.seed = 5;
  spec.workload.optimizer.learning_rate = 10, spec.workload.optimizer.warmup_steps = 100;
  spec.workload.data = "/nonexistent";
  const CheckResult result = check_workload(spec, dtype, *engine);
  EXPECT_EQ(result.verdict, Verdict::passed) << result.detail;
  const std::vector<double>& torch = reference.runs.at(dtype == DType::f32 ? "fp32" : "bf16").losses;
  EXPECT_EQ(result.reference, std::vector<double>(torch.begin(), torch.begin() + 3));
  EXPECT_EQ(result.losses.size(), 3u);
  EXPECT_EQ(result.tolerance, dtype == DType::f32 ? 1e-4 : 3e-3);
  EXPECT_LE(result.worst_relative, result.tolerance);
}

// Losses that stay where they began, as those of an optimizer without effect.
TEST(CheckVerdict, TrainingThatDoesNothingFails) {
  for (const char* file : {"gpt-tiny", "gpt-117m", "gpt-117m-8k", "resnet-tiny", "resnet50"})
    for (const DType dtype : {DType::f32, DType::bf16}) {
      const Reference reference = load_reference(file);
      const double first = reference.runs.at(dtype == DType::f32 ? "fp32" : "bf16").losses[0];
      EXPECT_EQ(judge_losses(reference.spec, dtype, {first, first, first}).verdict, Verdict::failed) << file << " " << name_of(dtype);
    }
}

TEST(CheckVerdict, IsUnverifiedWithTheReasonWhereNothingIsStored) {
  Spec spec = tiny_gpt();
  spec.workload.gpt.ffn = 192;
  const auto engine = open_ref_engine({});
  const CheckResult result = check_workload(spec, DType::f32, *engine);
  EXPECT_EQ(result.verdict, Verdict::unverified);
  EXPECT_THAT(result.detail, ::testing::HasSubstr("f192"));
  EXPECT_NEAR(result.losses[0], std::log(256.0), 0.5);
  EXPECT_TRUE(result.reference.empty());
}

// Losses of a broken engine, one fault at a time.
class CheckVerdictOf : public ::testing::Test {
 protected:
  CheckResult judge(size_t step, double factor) const {
    std::vector<double> losses(reference.runs.at("fp32").losses.begin(), reference.runs.at("fp32").losses.begin() + 3);
    losses[step] *= factor;
    return judge_losses(reference.spec, DType::f32, losses);
  }
  Reference reference = load_reference("gpt-tiny");
};

TEST_F(CheckVerdictOf, LossesWithinTheToleranceIsPassed) {
  for (const size_t step : {0, 1, 2}) {
    const CheckResult result = judge(step, 1 + 0.9e-4);
    EXPECT_EQ(result.verdict, Verdict::passed) << result.detail;
    EXPECT_NEAR(result.worst_relative, 0.9e-4, 1e-8);
  }
}

TEST_F(CheckVerdictOf, ALossBeyondTheToleranceIsFailed) {
  for (const size_t step : {0, 1, 2}) {
    EXPECT_EQ(judge(step, 1 + 1.1e-4).verdict, Verdict::failed);
    EXPECT_EQ(judge(step, 1 - 1.1e-4).verdict, Verdict::failed);
  }
}

TEST_F(CheckVerdictOf, ALossThatIsNotANumberIsFailed) {
  for (const size_t step : {0, 1, 2}) {
    EXPECT_EQ(judge(step, std::nan("")).verdict, Verdict::failed);
    EXPECT_EQ(judge(step, INFINITY).verdict, Verdict::failed);
  }
}

TEST_F(CheckVerdictOf, AFirstLossFarFromLnVIsFailedEvenWithoutAReference) {
  reference.spec.workload.gpt.ffn = 192;
  EXPECT_EQ(judge(0, 1).verdict, Verdict::unverified);
  for (const double factor : {0.6, 1.4, std::nan("")}) {
    const CheckResult result = judge(0, factor);
    EXPECT_EQ(result.verdict, Verdict::failed);
    EXPECT_THAT(result.detail, ::testing::HasSubstr("ln 256"));
  }
}

}  // namespace
}  // namespace erg::test
