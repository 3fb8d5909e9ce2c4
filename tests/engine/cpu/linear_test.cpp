// GELU and the gradient pass of linear layers against their formulas in double: every instruction set is a test.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/rng.hpp"
#include "tables.hpp"

namespace erg::test {
namespace {

class LinearKernel : public testing::TestWithParam<Tables> {};

// GELU's tanh form is z / (1 + e^-x) with this x.
double exponent(double z) { return 2 * std::sqrt(2 / std::numbers::pi) * (z + 0.044715 * z * z * z); }
double gelu(double z) { return z / (1 + std::exp(-exponent(z))); }
double gelu_derivative(double z) {
  const double s = 1 / (1 + std::exp(-exponent(z)));
  return s + z * s * (1 - s) * 2 * std::sqrt(2 / std::numbers::pi) * (1 + 3 * 0.044715 * z * z);
}

// kernels/math.hpp promises a relative 5e-7 + 4e-7 |x|: x itself is rounded, and e^-x multiplies that error by |x|.
TEST_P(LinearKernel, GeluIsAsAccurateAsItSays) {
  std::vector<float> z, y(40001);
  for (int i = -20000; i <= 20000; ++i) z.push_back(float(i) * 4e-4f);
  GetParam().linear->gelu(DType::f32, z.data(), y.data(), int64_t(z.size()));
  for (size_t i = 0; i < z.size(); ++i) {
    const double truth = gelu(z[i]), bound = (5e-7 + 4e-7 * std::abs(exponent(z[i]))) * std::abs(truth);
    ASSERT_LE(std::abs(y[i] - truth), bound) << "z " << z[i];
  }
}

TEST_P(LinearKernel, GeluOfLargeAndBrokenValues) {
  const float nan = std::nanf("");
  const std::vector<float> z{-1e4f, 1e4f, nan, 0.0f, -30.0f};
  std::vector<float> y(z.size());
  GetParam().linear->gelu(DType::f32, z.data(), y.data(), int64_t(z.size()));
  EXPECT_NEAR(y[0], 0, 1e-30);
  EXPECT_EQ(y[1], 1e4f);
  EXPECT_TRUE(std::isnan(y[2]));
  EXPECT_EQ(y[3], 0);
  EXPECT_NEAR(y[4], 0, 1e-30);
}

// Sizes around the tiles' 16 or 32 rows and columns and the stripes' 128 columns; more rows than parts of one tile.
TEST_P(LinearKernel, GradientPass) {
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const bool activated : {false, true})
      for (const int64_t rows : {1, 16, 33, 70, 1100})
        for (const int64_t columns : {1, 17, 32, 131, 300}) {
          SCOPED_TRACE(testing::Message() << name_of(dtype) << " " << rows << "x" << columns << (activated ? " gelu" : ""));
          const int64_t count = rows * columns;
          Array dy(dtype, count, [](int64_t i) { return random_centered(1, 0, uint64_t(i), 1); });
          Array z(dtype, count, [](int64_t i) { return random_centered(1, 1, uint64_t(i), 2); });
          Array dz(dtype, count), transposed(dtype, count);
          std::vector<float> sums(static_cast<size_t>(linear_parts * columns));
          LinearGradient g;
          g.dtype = dtype, g.rows = rows, g.columns = columns;
          g.dy = dy.data(), g.z = activated ? z.data() : nullptr, g.dz = dz.data(), g.dz_transposed = transposed.data();
          g.column_sums = sums.data();
          GetParam().linear->gradient(g);
          for (int64_t c = 0; c < columns; ++c) {
            double sum = 0;
            for (int64_t r = 0; r < rows; ++r) {
              const int64_t i = r * columns + c;
              const double truth = activated ? dy[i] * gelu_derivative(z[i]) : dy[i];
              sum += truth;
              if (activated) { ASSERT_NEAR(dz[i], truth, dtype == DType::f32 ? 3e-6 : 0x1p-8 * std::abs(truth) + 3e-6); }
              ASSERT_EQ(transposed[c * rows + r], activated ? dz[i] : dy[i]) << r << ", " << c;
            }
            ASSERT_NEAR(sums[size_t(c)], sum, 2e-6 * double(rows + 8));
          }
        }
}

INSTANTIATE_TEST_SUITE_P(Isa, LinearKernel, testing::ValuesIn(tables_here()), isa_name);

}  // namespace
}  // namespace erg::test
