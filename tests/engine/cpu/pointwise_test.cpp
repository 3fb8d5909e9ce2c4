// The weight gradient of 1x1 convolutions against sums in double, on every instruction set: tiles that are not full, chunks that end within
// an image, odd numbers of pixels, strides, and cuts of the batch.
#include <gtest/gtest.h>

#include <cmath>

#include "core/rng.hpp"
#include "tables.hpp"

namespace erg::test {
namespace {

struct Case {
  int64_t images, in_blocks, out_blocks, height, width, stride;
  int threads;
};

class Pointwise : public testing::TestWithParam<Tables> {
 protected:
  void check(const Case& c, DType dtype) const {
    SCOPED_TRACE(testing::Message() << name_of(dtype) << " images " << c.images << " blocks " << c.in_blocks << " -> " << c.out_blocks
                                    << " of " << c.height << " x " << c.width << " stride " << c.stride << " threads " << c.threads);
    PointwiseGradient a;
    a.dtype = dtype;
    a.images = c.images, a.in_blocks = c.in_blocks, a.out_blocks = c.out_blocks;
    a.in_height = c.height, a.in_width = c.width, a.stride = c.stride;
    a.threads = c.threads;
    const int64_t in_pixels = c.height * c.width, out_width = a.out_width(), out_pixels = a.out_height() * out_width;
    const auto value = [](uint64_t stream) { return [stream](int64_t i) { return random_centered(1, stream, uint64_t(i), 1); }; };
    Array x(dtype, c.images * c.in_blocks * in_pixels * 16, value(1)), dz(dtype, c.images * c.out_blocks * out_pixels * 16, value(2));
    Array dw(DType::f32, c.in_blocks * c.out_blocks * 256, [](int64_t) { return 7.0; });  // is overwritten
    const PointwiseKernels& kernels = *GetParam().pointwise;
    const int64_t bytes = kernels.workspace_bytes(a);
    void* const workspace = std::aligned_alloc(64, size_t((bytes + 63) / 64 * 64));
    a.x = x.data(), a.dz = dz.data(), a.dw = static_cast<float*>(dw.data()), a.workspace = workspace;
    kernels.weight_gradient(a);
    std::free(workspace);

    for (int64_t o = 0; o < 16 * c.out_blocks; o += 5)
      for (int64_t i = 0; i < 16 * c.in_blocks; i += 3) {
        double sum = 0, absolute = 0;
        for (int64_t n = 0; n < c.images; ++n)
          for (int64_t p = 0; p < out_pixels; ++p) {
            const int64_t in_pixel = p / out_width * c.stride * c.width + p % out_width * c.stride;
            const double term = x[((n * c.in_blocks + i / 16) * in_pixels + in_pixel) * 16 + i % 16] *
                                dz[((n * c.out_blocks + o / 16) * out_pixels + p) * 16 + o % 16];
            sum += term, absolute += std::fabs(term);
          }
        ASSERT_NEAR(dw[(o / 16 * c.in_blocks + i / 16) * 256 + i % 16 * 16 + o % 16], sum, 1e-6 * absolute) << "out " << o << " in " << i;
      }
  }
};

TEST_P(Pointwise, SumsOverAllPixels) {
  for (const Case& c : {Case{1, 1, 1, 1, 1, 1, 1}, Case{3, 2, 5, 7, 7, 1, 2}, Case{2, 9, 3, 5, 3, 2, 1}, Case{5, 1, 11, 8, 6, 2, 3},
                        Case{2, 4, 4, 16, 9, 1, 1}, Case{1, 8, 16, 3, 4, 1, 2}, Case{4, 3, 1, 13, 13, 3, 2}})
    for (const DType dtype : {DType::f32, DType::bf16}) check(c, dtype);
}

INSTANTIATE_TEST_SUITE_P(Kernels, Pointwise, testing::ValuesIn(tables_here()), isa_name);

}  // namespace
}  // namespace erg::test
