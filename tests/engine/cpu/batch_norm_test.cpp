// Batch norm kernels against its formulas in double (Ioffe & Szegedy 2015): every instruction set is a test, which goes through dtypes,
// blocks, what follows the norm, and splits of the batch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/rng.hpp"
#include "tables.hpp"

namespace erg::test {
namespace {

struct Setting {
  DType dtype;
  int64_t block;
  bool relu, residual;
  int64_t parts;
};

struct Norm : Setting {
  const Planes shape{dtype, 5, 19, 7, block};  // 19 channels fill no block
  const size_t padded = size_t(shape.blocks() * block);
  const double count = double(shape.images * shape.pixels);
  const double tolerance = dtype == DType::f32 ? 2e-6 : 0x1p-8;  // of a value near 1: fp32 sums of 35, or one bf16 store

  Image z{shape}, r{shape}, y{shape}, dy{shape}, dz{shape}, dr{shape};
  std::vector<float> gamma = std::vector<float>(padded), beta = gamma, mean = gamma, rstd = gamma, running_mean = gamma,
                     running_variance = gamma, d_gamma = gamma, d_beta = gamma;
  std::vector<double> partials = std::vector<double>(size_t(batch_norm_partials(shape, parts)));

  explicit Norm(const Setting& s) : Setting(s) {}

  // Values whose mean is `offset` times their spread.
  void fill(double offset) {
    const auto random = [&](uint64_t stream) {
      return [this, stream](int64_t n, int64_t c, int64_t p) {
        return double(random_centered(1, stream, uint64_t((n * shape.channels + c) * shape.pixels + p), 1));
      };
    };
    z.fill([&](int64_t n, int64_t c, int64_t p) { return offset + random(0)(n, c, p) * double(c + 1) / 8; });
    r.fill(random(1));
    dy.fill(random(2));
    for (int64_t c = 0; c < shape.channels; ++c) {
      gamma[size_t(c)] = 1 + random_centered(1, 3, uint64_t(c), 0.5);
      beta[size_t(c)] = random_centered(1, 4, uint64_t(c), 0.5);
    }
  }
  BatchNormForward forward_arguments() {
    BatchNormForward a;
    a.shape = shape;
    a.z = z.data();
    a.residual = residual ? r.data() : nullptr;
    a.y = y.data();
    a.relu = relu;
    a.gamma = gamma.data(), a.beta = beta.data(), a.mean = mean.data(), a.rstd = rstd.data();
    a.running_mean = running_mean.data(), a.running_variance = running_variance.data();
    a.momentum = 0.25f;
    a.parts = parts, a.partials = partials.data();
    return a;
  }
  BatchNormBackward backward_arguments() {
    BatchNormBackward a;
    a.shape = shape;
    a.z = z.data(), a.y = y.data(), a.dy = dy.data(), a.dz = dz.data();
    a.d_residual = residual ? dr.data() : nullptr;
    a.relu = relu, a.residual = residual;
    a.gamma = gamma.data(), a.beta = beta.data(), a.mean = mean.data(), a.rstd = rstd.data();
    a.d_gamma = d_gamma.data(), a.d_beta = d_beta.data();
    a.parts = parts, a.partials = partials.data();
    return a;
  }
  struct Moments {
    double mean, variance;
  };
  Moments moments(int64_t c) const {
    double sum = 0, squares = 0;
    for (int64_t n = 0; n < shape.images; ++n)
      for (int64_t p = 0; p < shape.pixels; ++p) sum += z.get(n, c, p);
    for (int64_t n = 0; n < shape.images; ++n)
      for (int64_t p = 0; p < shape.pixels; ++p) squares += std::pow(z.get(n, c, p) - sum / count, 2);
    return {sum / count, squares / count};
  }
  double normalised(int64_t n, int64_t c, int64_t p, const Moments& m) const {
    const double v = double(gamma[size_t(c)]) * (z.get(n, c, p) - m.mean) / std::sqrt(m.variance + 1e-5) + double(beta[size_t(c)]) +
                     (residual ? r.get(n, c, p) : 0);
    return relu ? std::max(v, 0.0) : v;
  }
};

class BatchNorm : public testing::TestWithParam<Tables> {
 protected:
  const BatchNormKernels& kernels = *GetParam().batch_norm;

  // Every setting in turn, until one fails.
  template <class Check>
  void each(Check check) {
    for (const DType dtype : {DType::f32, DType::bf16})
      for (const int64_t block : {16, 8, 1})
        for (const auto& [relu, residual] : {std::pair{false, false}, {true, false}, {true, true}})
          for (const int64_t parts : {1, 3}) {
            if (HasFailure()) return;
            SCOPED_TRACE(testing::Message() << name_of(dtype) << " block " << block << " relu " << relu << " residual " << residual
                                            << " parts " << parts);
            Norm norm(Setting{dtype, block, relu, residual, parts});
            check(norm);
          }
  }
};

TEST_P(BatchNorm, TrainsForward) {
  each([&](Norm& t) {
    t.fill(0.5);
    kernels.train(t.forward_arguments());
    std::vector<Norm::Moments> truth;
    for (int64_t c = 0; c < t.shape.channels; ++c) {
      const Norm::Moments m = truth.emplace_back(t.moments(c));
      EXPECT_NEAR(t.mean[size_t(c)], m.mean, 1e-6);
      EXPECT_NEAR(t.running_mean[size_t(c)], 0.25 * m.mean, 1e-6);
      EXPECT_NEAR(t.running_variance[size_t(c)], 0.25 * m.variance * t.count / (t.count - 1), 1e-6 * m.variance);
    }
    Image::for_each(t.shape, [&](int64_t n, int64_t c, int64_t p) {
      const double v = t.normalised(n, c, p, truth[size_t(c)]);
      ASSERT_NEAR(t.y.get(n, c, p), v, t.tolerance * (1 + std::fabs(v))) << "image " << n << " channel " << c << " pixel " << p;
    });
    EXPECT_TRUE(t.y.padding_is_zero());
  });
}

// A mean 1000 times the spread: the difference of squares would lose 20 of fp32's 24 bits.
TEST_P(BatchNorm, KeepsTheVarianceUnderALargeMean) {
  each([&](Norm& t) {
    if (t.dtype == DType::bf16) return;  // it cannot hold such values
    t.fill(1000);
    kernels.train(t.forward_arguments());
    for (int64_t c = 0; c < t.shape.channels; ++c)
      EXPECT_NEAR(t.rstd[size_t(c)] * std::sqrt(t.moments(c).variance + 1e-5), 1, 1e-5) << "channel " << c;
  });
}

TEST_P(BatchNorm, NormalisesWithGivenStatistics) {
  each([&](Norm& t) {
    t.fill(0);
    for (size_t c = 0; c < t.padded; ++c) t.mean[c] = 0.5f, t.rstd[c] = 2;
    kernels.normalise(t.forward_arguments());
    Image::for_each(t.shape, [&](int64_t n, int64_t c, int64_t p) {
      const double v = t.normalised(n, c, p, {0.5, 0.25 - 1e-5});
      ASSERT_NEAR(t.y.get(n, c, p), v, t.tolerance * (1 + std::fabs(v)));
    });
    EXPECT_THAT(t.running_mean, testing::Each(0));
  });
}

// The gradient by its definition: d_z[j] = sum_i g_i dv_i / dz_j with dv_i / dz_j = gamma rstd (delta_ij - 1/m - xhat_i xhat_j / m).
TEST_P(BatchNorm, GoesBackward) {
  each([&](Norm& t) {
    t.fill(0.5);
    kernels.train(t.forward_arguments());
    kernels.backward(t.backward_arguments());
    for (int64_t c = 0; c < t.shape.channels; ++c) {
      const Norm::Moments m = t.moments(c);
      const double rstd = 1 / std::sqrt(m.variance + 1e-5);
      const auto xhat = [&](int64_t n, int64_t p) { return (t.z.get(n, c, p) - m.mean) * rstd; };
      const auto g = [&](int64_t n, int64_t p) { return t.relu && t.y.get(n, c, p) <= 0 ? 0 : t.dy.get(n, c, p); };
      double sum = 0, product = 0;
      for (int64_t n = 0; n < t.shape.images; ++n)
        for (int64_t p = 0; p < t.shape.pixels; ++p) sum += g(n, p), product += g(n, p) * xhat(n, p);
      EXPECT_NEAR(t.d_beta[size_t(c)], sum, 2e-5);
      EXPECT_NEAR(t.d_gamma[size_t(c)], product, 2e-5);
      for (int64_t n = 0; n < t.shape.images; ++n)
        for (int64_t p = 0; p < t.shape.pixels; ++p) {
          const double d = double(t.gamma[size_t(c)]) * rstd * (g(n, p) - sum / t.count - xhat(n, p) * product / t.count);
          ASSERT_NEAR(t.dz.get(n, c, p), d, 4 * t.tolerance * (rstd + std::fabs(d))) << "image " << n << " channel " << c << " pixel " << p;
          ASSERT_EQ(t.residual ? t.dr.get(n, c, p) : g(n, p), g(n, p));
        }
    }
    EXPECT_TRUE(t.dz.padding_is_zero());
  });
}

// With a residual, its gradient lies where that of y does, and dz where z does. Without, dz lies where dy does, and y comes back in z's
// place.
TEST_P(BatchNorm, GoesBackwardInPlace) {
  each([&](Norm& t) {
    t.fill(0.5);
    kernels.train(t.forward_arguments());
    kernels.backward(t.backward_arguments());
    BatchNormBackward a = t.backward_arguments();
    if (t.residual) {
      a.d_residual = t.dy.data();
      a.dz = t.z.data();
    } else {
      a.dz = t.dy.data();
      a.y_again = t.z.data();
    }
    kernels.backward(a);
    Image::for_each(t.shape, [&](int64_t n, int64_t c, int64_t p) {
      ASSERT_EQ((t.residual ? t.z : t.dy).get(n, c, p), t.dz.get(n, c, p));
      if (t.residual) {
        ASSERT_EQ(t.dy.get(n, c, p), t.dr.get(n, c, p));
      } else {
        ASSERT_EQ(t.z.get(n, c, p), t.y.get(n, c, p));
      }
    });
    EXPECT_TRUE(t.z.padding_is_zero());
    EXPECT_TRUE(t.dy.padding_is_zero());
  });
}

INSTANTIATE_TEST_SUITE_P(Kernels, BatchNorm, testing::ValuesIn(tables_here()), isa_name);

TEST(BatchNormParts, GiveEveryThreadWork) {
  const Planes narrow{DType::f32, 32, 64, 56 * 56, 16}, wide{DType::f32, 32, 2048, 49, 16};
  EXPECT_EQ(batch_norm_parts(narrow, 2), 1);  // four blocks on two threads
  EXPECT_EQ(batch_norm_parts(wide, 64), 1);   // 128 blocks on 64
  EXPECT_GE(narrow.blocks() * batch_norm_parts(narrow, 64), 64);
  EXPECT_GE(wide.blocks() * batch_norm_parts(wide, 96), 96);
  EXPECT_EQ(batch_norm_partials(narrow, 1), 0);
}

}  // namespace
}  // namespace erg::test
