// The table-free shuffle is a permutation, and not the same one for two keys.
#include "data/shuffle.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace erg {
namespace {

TEST(Shuffle, IsOneToOne) {
  for (const int64_t n : {1, 2, 3, 4, 5, 16, 17, 1000, 4097}) {
    std::vector<int> seen(size_t(n), 0);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t to = shuffled(i, n, 7);
      ASSERT_GE(to, 0);
      ASSERT_LT(to, n);
      ++seen[size_t(to)];
    }
    for (const int times : seen) ASSERT_EQ(times, 1) << n;
  }
}

TEST(Shuffle, WorksBeyondFourBillion) {
  constexpr int64_t n = 6'000'000'007;
  for (const int64_t i : {int64_t(0), int64_t(1), n - 1}) {
    EXPECT_GE(shuffled(i, n, 1), 0);
    EXPECT_LT(shuffled(i, n, 1), n);
  }
  EXPECT_NE(shuffled(0, n, 1), shuffled(1, n, 1));
}

TEST(Shuffle, LooksRandom) {
  constexpr int64_t n = 1000;
  int same = 0, rising = 0;
  for (int64_t i = 0; i < n; ++i) same += shuffled(i, n, 1) == shuffled(i, n, 2);
  for (int64_t i = 1; i < n; ++i) rising += shuffled(i, n, 1) > shuffled(i - 1, n, 1);
  EXPECT_LE(same, 8);              // 1 expected, Poisson
  EXPECT_NEAR(rising, n / 2, 40);  // standard deviation sqrt(n / 12) = 9
}

}  // namespace
}  // namespace erg
