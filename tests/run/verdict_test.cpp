// Which losses let a speed count: sequences whose verdict follows from the stated rule.
#include "run/verdict.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "core/rng.hpp"

namespace erg {
namespace {

using testing::HasSubstr;

constexpr double classes = 256;
const double untrained = std::log(classes);

// A line from ln(classes) with uniform noise around it; the first loss is exact.
std::vector<double> line(size_t n, double total_change, double noise) {
  std::vector<double> losses(n);
  for (size_t i = 0; i < n; ++i)
    losses[i] = untrained + total_change * double(i) / double(n) + (i ? noise * (2.0 * random_uniform(1, 2, i) - 1) : 0);
  return losses;
}

TEST(Losses, FallingIsValid) {
  EXPECT_EQ(judge_losses(line(40, -2, 0.3), classes).invalid, "");
  EXPECT_TRUE(judge_losses(line(40, -2, 0.3), classes).flags.empty());
  EXPECT_TRUE(judge_losses(line(8, -1, 0.02), classes).flags.empty());
}

TEST(Losses, RisingIsInvalid) { EXPECT_THAT(judge_losses(line(60, 2, 0.2), classes).invalid, HasSubstr("rises")); }

TEST(Losses, NotFallingIsInvalidOnceThereAreManySteps) {
  EXPECT_THAT(judge_losses(line(400, 0, 0.2), classes).invalid, HasSubstr("does not fall"));
  EXPECT_THAT(judge_losses(std::vector<double>(300, untrained), classes).invalid, HasSubstr("does not fall"));
  const Verdict few = judge_losses(line(60, 0, 0.2), classes);
  EXPECT_EQ(few.invalid, "");
  ASSERT_EQ(few.flags.size(), 1u);
  EXPECT_EQ(few.flags[0].code, "loss_unclear");
}

// Losses of single images are mostly noise: the more steps there are, the more of them tell the trend. Means of 20 of these 280 have a
// standard error of 0.64, so that a fall of 1.1 would not count.
TEST(Losses, ManyNoisyStepsTellATrend) {
  EXPECT_EQ(judge_losses(line(280, -1.3, 3.5), classes).invalid, "");
  EXPECT_THAT(judge_losses(line(280, 0, 3.5), classes).invalid, HasSubstr("does not fall"));
}

TEST(Losses, AFewStepsAreNotCondemned) {
  for (size_t n : {1u, 2u, 7u, 19u}) {
    const Verdict v = judge_losses(line(n, 1, 0.01), classes);
    EXPECT_EQ(v.invalid, "") << n;
    ASSERT_EQ(v.flags.size(), 1u) << n;
    EXPECT_EQ(v.flags[0].code, "loss_unclear");
  }
  EXPECT_EQ(judge_losses({}, classes).invalid, "");
}

TEST(Losses, NotFiniteIsInvalidWhereverItIs) {
  for (double bad : {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL, -HUGE_VAL})
    for (size_t at : {0u, 17u, 39u}) {
      auto losses = line(40, -2, 0);
      losses[at] = bad;
      EXPECT_THAT(judge_losses(losses, classes).invalid, HasSubstr("step " + std::to_string(at + 1) + " is not finite"));
    }
}

// Whatever the mean says: one loss that no sound run has ends the claim, a lesser one is told.
TEST(Losses, ASpikeIsFlaggedAndAHugeOneInvalid) {
  for (const size_t at : {1u, 20u, 39u}) {
    auto losses = line(40, -2, 0.1);
    losses[at] = 1.9 * untrained;
    EXPECT_TRUE(judge_losses(losses, classes).flags.empty()) << at;
    losses[at] = 2.1 * untrained;
    const Verdict v = judge_losses(losses, classes);
    EXPECT_EQ(v.invalid, "") << at;
    ASSERT_GE(v.flags.size(), 1u) << at;
    EXPECT_EQ(v.flags[0].code, "loss_spike");
    EXPECT_THAT(v.flags[0].detail, HasSubstr("step " + std::to_string(at + 1) + " "));
    losses[at] = 1e6;
    EXPECT_THAT(judge_losses(losses, classes).invalid, HasSubstr("step " + std::to_string(at + 1) + " is 1"));
  }
}

// A run that blew up early and comes down again is falling, and still worse than no training.
TEST(Losses, AboveAnUntrainedNetworkIsInvalidHoweverItFalls) {
  std::vector<double> losses(300, 0);
  for (size_t i = 0; i < losses.size(); ++i) losses[i] = i == 0 ? untrained : 2.9 * untrained - 0.003 * double(i);
  EXPECT_THAT(judge_losses(losses, classes).invalid, HasSubstr("above that of an untrained network"));
  losses.resize(10);
  EXPECT_THAT(judge_losses(losses, classes).invalid, HasSubstr("above that of an untrained network"));
}

TEST(Losses, TheFirstMustBeNearThatOfAnUntrainedNetwork) {
  auto losses = line(40, -2, 0);
  losses[0] = untrained + 0.5 + 0.25 * untrained + 0.01;
  EXPECT_THAT(judge_losses(losses, classes).invalid, HasSubstr("far from ln 256"));
  losses[0] = untrained - 0.5 - 0.25 * untrained - 0.01;
  EXPECT_THAT(judge_losses(losses, classes).invalid, HasSubstr("far from"));
  losses[0] = untrained + 1;
  EXPECT_EQ(judge_losses(losses, classes).invalid, "");
}

TEST(Validation, AboveTwiceAnUntrainedNetworkIsFlagged) {
  EXPECT_TRUE(judge_validation(1.9 * untrained, classes).empty());
  ASSERT_EQ(judge_validation(5092, classes).size(), 1u);
  EXPECT_EQ(judge_validation(5092, classes)[0].code, "validation_high");
  EXPECT_THAT(judge_validation(5092, classes)[0].detail, HasSubstr("5092"));
}

TEST(Check, DecidesLikeItsVerdict) {
  CheckResult check;
  check.detail = "because";
  check.verdict = CheckResult::Verdict::passed;
  EXPECT_EQ(judge_check(check).invalid, "");
  EXPECT_TRUE(judge_check(check).flags.empty());
  check.verdict = CheckResult::Verdict::failed;
  EXPECT_THAT(judge_check(check).invalid, HasSubstr("because"));
  check.verdict = CheckResult::Verdict::unverified;
  EXPECT_EQ(judge_check(check).invalid, "");
  EXPECT_EQ(judge_check(check).flags.at(0).code, "unverified");
}

}  // namespace
}  // namespace erg
