// Pooling and sums against plain loops: every instruction set is a test, which goes through dtypes and blocks.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/rng.hpp"
#include "tables.hpp"

namespace erg::test {
namespace {

class Pool : public testing::TestWithParam<Tables> {
 protected:
  const PoolKernels& kernels = *GetParam().pool;

  template <class Check>
  void each(Check check) {  // check(dtype, block)
    for (const DType dtype : {DType::f32, DType::bf16})
      for (const int64_t block : {16, 8, 1}) {
        SCOPED_TRACE(testing::Message() << name_of(dtype) << " block " << block);
        check(dtype, block);
      }
  }
};

struct Window {
  int64_t height, width, kernel, stride, padding;
};

class MaxPooling : public Pool {
 protected:
  void check(const Window& w) {
    each([&](DType dtype, int64_t block) { check(w, dtype, block); });
  }
  void check(const Window& w, DType dtype, int64_t block) {
    const int64_t oh = (w.height + 2 * w.padding - w.kernel) / w.stride + 1, ow = (w.width + 2 * w.padding - w.kernel) / w.stride + 1;
    const Planes in{dtype, 2, 19, w.height * w.width, block}, out{dtype, 2, 19, oh * ow, block};
    Image x(in), y(out), dy(out), dx(in);
    // Few different values, so that windows have ties: the first in row-major order wins.
    x.fill([&](int64_t n, int64_t c, int64_t p) { return double(random_bits(1, 0, uint64_t((n * 19 + c) * in.pixels + p)) % 4) - 1.5; });
    dy.fill([&](int64_t n, int64_t c, int64_t p) { return double(random_bits(1, 1, uint64_t((n * 19 + c) * out.pixels + p)) % 16); });
    std::vector<uint8_t> taps(size_t(out.elements()));
    MaxPool a;
    a.dtype = dtype, a.planes = in.images * in.blocks(), a.block = block;
    a.in_height = w.height, a.in_width = w.width, a.out_height = oh, a.out_width = ow;
    a.kernel = w.kernel, a.stride = w.stride, a.padding = w.padding;
    a.x = x.data(), a.y = y.data(), a.taps = taps.data(), a.dy = dy.data(), a.dx = dx.data();
    kernels.max_forward(a);
    kernels.max_backward(a);

    std::vector<double> d(size_t(in.images * in.channels * in.pixels));
    Image::for_each(out, [&](int64_t n, int64_t c, int64_t p) {
      double best = -std::numeric_limits<double>::infinity();
      int64_t winner = -1;
      for (int64_t ky = 0; ky < w.kernel; ++ky)
        for (int64_t kx = 0; kx < w.kernel; ++kx) {
          const int64_t iy = p / ow * w.stride - w.padding + ky, ix = p % ow * w.stride - w.padding + kx;
          if (iy < 0 || iy >= w.height || ix < 0 || ix >= w.width) continue;
          const double v = x.get(n, c, iy * w.width + ix);
          if (v > best) best = v, winner = iy * w.width + ix;
        }
      ASSERT_EQ(y.get(n, c, p), best);
      d[size_t((n * in.channels + c) * in.pixels + winner)] += dy.get(n, c, p);
    });
    Image::for_each(in, [&](int64_t n, int64_t c, int64_t p) {
      ASSERT_EQ(dx.get(n, c, p), d[size_t((n * in.channels + c) * in.pixels + p)]) << "channel " << c << " pixel " << p;
    });
  }
};

TEST_P(MaxPooling, AsResNetHasIt) { check({9, 12, 3, 2, 1}); }
TEST_P(MaxPooling, WithoutOverlap) { check({7, 8, 2, 2, 0}); }
TEST_P(MaxPooling, WithGapsBetweenWindows) { check({9, 9, 2, 3, 0}); }
TEST_P(MaxPooling, WithEveryPixelInManyWindows) { check({6, 5, 3, 1, 1}); }

TEST_P(MaxPooling, LetsNotANumberThrough) {
  each([&](DType dtype, int64_t block) {
    const Planes in{dtype, 1, 8, 9, block}, out{dtype, 1, 8, 1, block};
    Image x(in), y(out);
    x.fill([](int64_t, int64_t, int64_t p) { return p == 4 ? std::nan("") : double(p); });
    MaxPool a;
    a.dtype = dtype, a.planes = in.blocks(), a.block = block;
    a.in_height = a.in_width = 3, a.out_height = a.out_width = 1, a.padding = 0;
    a.x = x.data(), a.y = y.data();
    kernels.max_forward(a);
    for (int64_t c = 0; c < 8; ++c) EXPECT_TRUE(std::isnan(y.get(0, c, 0))) << "channel " << c;
  });
}

TEST_P(Pool, MeanAndItsGradient) {
  each([&](DType dtype, int64_t block) {
    const Planes in{dtype, 3, 19, 8, block};
    const Planes row{dtype, 3, 19, 1, 1};  // plain [images][channels]
    Image x(in), y(row), dy(row), dx(in);
    x.fill([](int64_t n, int64_t c, int64_t p) { return double(n + c % 4 + p); });
    dy.fill([](int64_t n, int64_t c, int64_t) { return double(8 * n + 16 * (c % 3)); });
    GlobalAvgPool a;
    a.shape = in;
    a.x = x.data(), a.y = y.data(), a.dy = dy.data(), a.dx = dx.data();
    kernels.mean_forward(a);
    kernels.mean_backward(a);
    Image::for_each(in, [&](int64_t n, int64_t c, int64_t p) {
      ASSERT_EQ(y.get(n, c, 0), double(n + c % 4) + 3.5);
      ASSERT_EQ(dx.get(n, c, p), double(n + 2 * (c % 3)));
    });
    EXPECT_TRUE(dx.padding_is_zero());
  });
}

INSTANTIATE_TEST_SUITE_P(Kernels, MaxPooling, testing::ValuesIn(tables_here()), isa_name);
INSTANTIATE_TEST_SUITE_P(Kernels, Pool, testing::ValuesIn(tables_here()), isa_name);

class Add : public testing::TestWithParam<Tables> {};

TEST_P(Add, RoundsOnceToNearestEven) {
  std::vector<bf16_bits> to, what;
  std::vector<float> gradient;
  for (uint64_t i = 0; i < 1003; ++i) {
    to.push_back(to_bf16(random_centered(1, 0, i, 1)));
    what.push_back(to_bf16(random_centered(1, 1, i, 0.01)));
    gradient.push_back(random_centered(1, 2, i, 1));
  }
  gradient[5] = std::numeric_limits<float>::infinity();
  gradient[6] = std::nanf("");
  std::vector<bf16_bits> sum = to, stored = to, accumulated = to;
  GetParam().add->add(DType::bf16, sum.data(), what.data(), 1003);
  GetParam().add->add_gradient(DType::bf16, stored.data(), gradient.data(), 1003, false);
  GetParam().add->add_gradient(DType::bf16, accumulated.data(), gradient.data(), 1003, true);
  for (size_t i = 0; i < 1003; ++i) {
    ASSERT_EQ(sum[i], to_bf16(to_float(to[i]) + to_float(what[i]))) << i;
    if (i == 6) continue;
    ASSERT_EQ(stored[i], to_bf16(gradient[i])) << i;
    ASSERT_EQ(accumulated[i], to_bf16(to_float(to[i]) + gradient[i])) << i;
  }
  EXPECT_TRUE(std::isnan(to_float(stored[6])) && std::isnan(to_float(accumulated[6])));
}

TEST_P(Add, OfFp32) {
  std::vector<float> to(37, 1.5f), what(37, 0.25f);
  GetParam().add->add(DType::f32, to.data(), what.data(), 37);
  GetParam().add->add_gradient(DType::f32, to.data(), what.data(), 37, true);
  for (const float v : to) EXPECT_EQ(v, 2.0f);
  GetParam().add->add_gradient(DType::f32, to.data(), what.data(), 36, false);
  EXPECT_EQ(to[35], 0.25f);
  EXPECT_EQ(to[36], 2.0f);
}

INSTANTIATE_TEST_SUITE_P(Kernels, Add, testing::ValuesIn(tables_here()), isa_name);

}  // namespace
}  // namespace erg::test
