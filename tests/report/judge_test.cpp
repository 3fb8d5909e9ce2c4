// Verdicts over numbers whose intervals are known: Student's t for three values is 4.3027 s / sqrt 3.
#include "report/judge.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace erg {
namespace {

using testing::HasSubstr;

constexpr double threshold = 0.01;

Judged rates(const std::vector<double>& a, const std::vector<double>& b) { return judge({a, {}}, {b, {}}, true, threshold); }

TEST(Judge, DisjointIntervalsAndAGapDecide) {
  const Judged j = rates({100, 101, 102}, {110, 111, 112});
  EXPECT_EQ(j.judgement, Judgement::faster);
  EXPECT_EQ(j.a, 101);
  EXPECT_NEAR(j.change, 10.0 / 101, 1e-12);
  EXPECT_NEAR(j.a95.high, 101 + 4.302652729749462 / std::sqrt(3.0), 1e-9);
  EXPECT_FALSE(j.p);
  EXPECT_EQ(j.next, "");
  EXPECT_EQ(rates({110, 111, 112}, {100, 101, 102}).judgement, Judgement::slower);
  EXPECT_EQ(judge({{100, 101, 102}, {}}, {{110, 111, 112}, {}}, false, threshold).judgement, Judgement::slower);  // a time
}

TEST(Judge, OverlapIsUnclearAndSaysWhatToDo) {
  const Judged j = rates({100, 101, 102}, {102.5, 103.5, 104.5});  // ± 2.48 each, 2.5 apart
  EXPECT_EQ(j.judgement, Judgement::unclear);
  EXPECT_THAT(j.reason, HasSubstr("the launches' spread leaves"));
  EXPECT_EQ(j.next, "repeat more often: --repeat 9");
}

TEST(Judge, EquivalenceIsShownNotAssumed) {
  const Judged j = rates({100, 100.1, 99.9}, {100.2, 100.1, 100.3});
  EXPECT_EQ(j.judgement, Judgement::same);
  EXPECT_THAT(j.reason, HasSubstr("within ± 1.0 %"));
  EXPECT_EQ(rates({100, 103, 97}, {100, 103, 97}).judgement, Judgement::unclear);  // equal medians, but it may be 5 % either way
  EXPECT_EQ(rates({100, 100}, {100, 100}).judgement, Judgement::same);
}

TEST(Judge, ASmallGapIsNoVerdictHoweverSure) {
  const Judged j = rates({100, 100.001, 100.002}, {100.9, 100.901, 100.902});
  EXPECT_EQ(j.judgement, Judgement::same);                                   // it is within ± 1 %, and that is sure
  const Judged between = rates({100, 100.1, 100.2}, {101.0, 101.1, 101.2});  // 0.999 %, apart, but perhaps 1.2 %
  EXPECT_EQ(between.judgement, Judgement::unclear);
  EXPECT_THAT(between.reason, HasSubstr("they differ by 1.0 %, less than the 1.0 % that counts, but may differ by up to 1.2 %"));
}

// scipy.stats.mannwhitneyu(a, b, method="exact").pvalue = 0.0315 although the intervals overlap
TEST(Judge, NineLaunchesAreRanked) {
  const std::vector<double> a = {10.1, 10.4, 9.9, 10.2, 10.0, 10.3, 10.6, 9.8, 10.5};
  const std::vector<double> b = {10.15, 10.45, 10.05, 10.7, 10.8, 10.9, 10.35, 11.0, 10.65};
  const Judged j = rates(a, b);
  EXPECT_EQ(j.judgement, Judgement::faster);
  ASSERT_TRUE(j.p);
  EXPECT_NEAR(*j.p, 0.03146853146853147, 1e-12);
  EXPECT_EQ(j.reason, "Mann-Whitney p = 0.031");
  std::vector<double> noise = a;
  std::reverse(noise.begin(), noise.end());
  const Judged same_noise = rates(a, noise);
  EXPECT_EQ(same_noise.judgement, Judgement::unclear);
  EXPECT_THAT(same_noise.next, HasSubstr("quiet the machine"));
}

TEST(Judge, OneLaunchCannotTellRunsApart) {
  const Launches a{{100}, Interval{99.9, 100.1}};
  Judged j = judge(a, {{110}, Interval{109.9, 110.1}}, true, threshold);
  EXPECT_EQ(j.judgement, Judgement::unclear);
  EXPECT_EQ(j.reason, "A and B have one launch: how much runs differ from each other is unknown");
  EXPECT_THAT(j.next, HasSubstr("--repeat 3"));
  EXPECT_TRUE(std::isnan(j.change95.low));
  EXPECT_EQ(judge(a, {{100}, Interval{99.9, 100.1}}, true, threshold).judgement, Judgement::unclear);  // nor is it the same

  j = judge(a, {{131}, Interval{130.9, 131.1}}, true, threshold);
  EXPECT_EQ(j.judgement, Judgement::faster);
  EXPECT_THAT(j.reason, HasSubstr("the gap exceeds 30 %"));
  EXPECT_EQ(judge(a, {{131}, Interval{90, 170}}, true, threshold).judgement, Judgement::unclear);  // its own window is not sure
  EXPECT_EQ(judge(a, {{131}, {}}, true, threshold).judgement, Judgement::unclear);
  EXPECT_THAT(judge(a, {{100, 101}, {}}, true, threshold).reason, HasSubstr("A has one launch"));
  EXPECT_THAT(judge({{100, 101}, {}}, a, true, threshold).reason, HasSubstr("B has one launch"));
}

}  // namespace
}  // namespace erg
