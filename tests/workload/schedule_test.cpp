// The learning-rate schedule against its closed form at the points that define it.
#include "workload/schedule.hpp"

#include <gtest/gtest.h>

namespace erg {
namespace {

OptimizerSpec spec(int64_t warmup, int64_t total) {
  OptimizerSpec o;
  o.learning_rate = 0.4, o.warmup_steps = warmup, o.total_steps = total;
  return o;
}

TEST(Schedule, IsConstantWithoutWarmUpAndTotal) {
  for (const int64_t step : {1, 2, 1000}) EXPECT_DOUBLE_EQ(learning_rate(spec(0, 0), step), 0.4);
}

TEST(Schedule, WarmsUpLinearlyFromTheFirstStep) {
  EXPECT_DOUBLE_EQ(learning_rate(spec(10, 0), 1), 0.04);
  EXPECT_DOUBLE_EQ(learning_rate(spec(10, 0), 5), 0.2);
  EXPECT_DOUBLE_EQ(learning_rate(spec(10, 0), 10), 0.4);
  EXPECT_DOUBLE_EQ(learning_rate(spec(10, 0), 11), 0.4);
}

TEST(Schedule, FallsAsACosineToATenthAndStaysThere) {
  const OptimizerSpec o = spec(10, 110);
  EXPECT_DOUBLE_EQ(learning_rate(o, 10), 0.4);
  EXPECT_NEAR(learning_rate(o, 60), 0.4 * 0.55, 1e-12);                                 // half way: the mean of peak and tenth
  EXPECT_NEAR(learning_rate(o, 35), 0.4 * (0.1 + 0.45 * (1 + std::sqrt(0.5))), 1e-12);  // a quarter: cos(pi / 4)
  EXPECT_NEAR(learning_rate(o, 109), 0.04, 0.4 * 1e-3);                                 // flat at the end
  EXPECT_DOUBLE_EQ(learning_rate(o, 110), 0.04);
  EXPECT_DOUBLE_EQ(learning_rate(o, 5000), 0.04);
}

}  // namespace
}  // namespace erg
