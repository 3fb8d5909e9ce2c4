// Resizing against Pillow's values, and properties that hold for any antialiased resize.
#include "data/resize.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace erg {
namespace {

// Pixels by a formula that the Pillow script had too: y, x = np.mgrid[0:14, 0:20];
// np.stack([(x*11 + y*5) % 256, (x*x*3 + y*17) % 256, (255 - x*9 + y*y) % 256], -1)
struct Source {
  static constexpr int kWidth = 20, kHeight = 14;
  std::vector<uint8_t> rgbx;
  Source() {
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x)
        for (const int value : {x * 11 + y * 5, x * x * 3 + y * 17, 255 - x * 9 + y * y + 256, 99}) rgbx.push_back(uint8_t(value % 256));
  }
  DecodedPart part() const { return {{0, 0, kWidth, kHeight}, rgbx.data(), kWidth * 4}; }
};

// A resized image back in 0..255.
struct Resized {
  int size;
  std::vector<float> planes;
  Resized(const DecodedPart& part, const Box& box, int side, bool flip = false) : size(side), planes(size_t(3 * side * side)) {
    Resizer().run(part, box, side, flip, planes.data());
  }
  float at(int y, int x, int c) const { return 255 * (planes[size_t((c * size + y) * size + x)] * kImageStd[c] + kImageMean[c]); }
};

struct Expected {
  int y, x;
  std::array<int, 3> rgb;
};

void expect_pillow(const Resized& image, std::initializer_list<Expected> samples) {
  for (const Expected& e : samples)
    for (int c = 0; c < 3; ++c)
      EXPECT_NEAR(image.at(e.y, e.x, c), e.rgb[size_t(c)], 1.01) << e.y << ' ' << e.x << ' ' << c;  // it rounds twice
}

TEST(Resize, AgreesWithPillow) {  // im.resize((n, n), Image.BILINEAR)
  const Source source;
  const Box whole{0, 0, 20, 14};
  expect_pillow({source.part(), whole, 7},
                {{0, 0, {17, 19, 206}}, {1, 3, {118, 110, 177}}, {6, 6, {105, 108, 166}}, {3, 0, {46, 118, 35}}});
  expect_pillow({source.part(), whole, 32}, {{0, 0, {0, 0, 255}}, {1, 3, {20, 12, 240}}, {31, 31, {18, 24, 253}}, {16, 0, {34, 114, 44}}});
}

TEST(Resize, CropsBeforeItResizes) {  // im.crop((3, 2, 15, 11)).resize((6, 6), Image.BILINEAR)
  const Source source;
  expect_pillow({source.part(), {3, 2, 12, 9}, 6},
                {{0, 0, {53, 83, 228}}, {1, 3, {124, 92, 185}}, {5, 5, {194, 183, 228}}, {3, 0, {75, 158, 61}}});
}

TEST(Resize, TakesBoxesBetweenPixels) {  // im.resize((5, 5), Image.BILINEAR, box=(2.5, 1.25, 17.0, 12.75)), away from the border
  const Source source;
  expect_pillow({source.part(), {2.5, 1.25, 14.5, 11.5}, 5}, {{1, 3, {154, 133, 165}}, {2, 2, {135, 120, 212}}, {3, 1, {114, 111, 54}}});
}

TEST(Resize, KeepsALinearRamp) {
  // Every sample away from the border is the ramp at its centre, but for the hundredths of a pixel that sampling the filter costs.
  std::vector<uint8_t> rgbx;
  for (int y = 0; y < 40; ++y)
    for (int x = 0; x < 40; ++x)
      for (const int value : {6 * x, 6 * y, 100, 0}) rgbx.push_back(uint8_t(value));
  const DecodedPart part{{0, 0, 40, 40}, rgbx.data(), 160};
  const Box box{3.3, 5.7, 20.5, 30.25};
  const Resized image(part, box, 10);
  for (int i = 2; i < 8; ++i) {
    EXPECT_NEAR(image.at(5, i, 0), 6 * (box.x + (i + 0.5) * box.width / 10 - 0.5), 6 * 0.03);
    EXPECT_NEAR(image.at(i, 5, 1), 6 * (box.y + (i + 0.5) * box.height / 10 - 0.5), 6 * 0.03);
    EXPECT_NEAR(image.at(i, i, 2), 100, 1e-3);
  }
}

TEST(Resize, TheSameSizeIsACopyAndFlipMirrors) {
  const Source source;
  const Resized plain(source.part(), {4, 1, 12, 12}, 12), mirrored(source.part(), {4, 1, 12, 12}, 12, true);
  for (int y = 0; y < 12; ++y) {
    for (int x = 0; x < 12; ++x) {
      for (int c = 0; c < 3; ++c) {
        EXPECT_NEAR(plain.at(y, x, c), source.part().pixel(x + 4, y + 1)[c], 1e-3);
        EXPECT_EQ(mirrored.at(y, x, c), plain.at(y, 11 - x, c));
      }
    }
  }
}

TEST(Resize, NormalisesWithImageNetsMeanAndDeviation) {
  const std::vector<uint8_t> white(4, 255);
  std::vector<float> out(3);
  Resizer().run({{0, 0, 1, 1}, white.data(), 4}, {0, 0, 1, 1}, 1, false, out.data());
  EXPECT_NEAR(out[0], (1 - 0.485) / 0.229, 1e-5);
  EXPECT_NEAR(out[1], (1 - 0.456) / 0.224, 1e-5);
  EXPECT_NEAR(out[2], (1 - 0.406) / 0.225, 1e-5);
}

TEST(Resize, WeightsSumToOneWhateverTheGeometry) {
  for (const auto& [begin, length, low, high, outputs] :
       {std::tuple{0.0, 500.0, 0, 500, 224}, {3.7, 2.1, 3, 6, 224}, {0.0, 1.0, 0, 1, 7}, {10.5, 300.25, 10, 311, 3}}) {
    ResizeTaps taps;
    taps.fill(begin, length, low, high, outputs);
    for (int i = 0; i < outputs; ++i) {
      EXPECT_GE(taps.first[size_t(i)], low);
      EXPECT_LE(taps.first[size_t(i)] + taps.taps, high);
      double sum = 0;
      for (int t = 0; t < taps.taps; ++t) sum += taps.weights[size_t(i * taps.taps + t)];
      EXPECT_NEAR(sum, 1, 1e-5);
    }
  }
}

}  // namespace
}  // namespace erg
