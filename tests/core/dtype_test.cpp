// bfloat16 conversion and the random formula. Expected bf16 bits are those of torch.tensor(x).to(torch.bfloat16).
#include "core/dtype.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/rng.hpp"

namespace erg {
namespace {

TEST(BFloat16, RoundsToNearestEven) {
  EXPECT_EQ(to_bf16(1.0f), 0x3f80);
  EXPECT_EQ(to_bf16(3.14159274f), 0x4049);
  EXPECT_EQ(to_bf16(std::bit_cast<float>(0x3f808000u)), 0x3f80);  // halfway, even below
  EXPECT_EQ(to_bf16(std::bit_cast<float>(0x3f818000u)), 0x3f82);  // halfway, even above
  EXPECT_EQ(to_bf16(std::bit_cast<float>(0x3f808001u)), 0x3f81);
  EXPECT_EQ(to_bf16(std::numeric_limits<float>::max()), 0x7f80);  // rounds to infinity
  EXPECT_EQ(to_bf16(-0.0f), 0x8000);
}

TEST(BFloat16, NaNStaysNaN) {
  EXPECT_TRUE(std::isnan(to_float(to_bf16(std::bit_cast<float>(0x7f800001u)))));
  EXPECT_TRUE(std::isinf(to_float(to_bf16(std::numeric_limits<float>::infinity()))));
}

TEST(BFloat16, EveryValueSurvivesTheRoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    if (std::isnan(to_float(bf16_bits(bits)))) continue;
    ASSERT_EQ(to_bf16(to_float(bf16_bits(bits))), bits);
  }
}

TEST(Random, MeanVarianceAndIndependenceOfStreams) {
  double sum = 0, square = 0, product = 0;
  constexpr int n = 100'000;
  for (uint64_t i = 0; i < n; ++i) {
    const double a = random_centered(1, 7, i, 0.02), b = random_centered(1, 8, i, 0.02);
    sum += a;
    square += a * a;
    product += a * b;
  }
  EXPECT_NEAR(sum / n, 0, 4 * 0.02 / std::sqrt(n));
  EXPECT_NEAR(std::sqrt(square / n), 0.02, 0.0002);
  EXPECT_NEAR(product / n / (0.02 * 0.02), 0, 4 / std::sqrt(n));
}

}  // namespace
}  // namespace erg
