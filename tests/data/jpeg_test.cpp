// Decoding against Pillow, parts against wholes, and damaged files.
#include "data/jpeg.hpp"

#include <gmock/gmock.h>

#include "core/rng.hpp"
#include "pillow_jpegs.hpp"
#include "temporary_folder.hpp"

namespace erg {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::span<const uint8_t> as_bytes(const std::string& s) { return {reinterpret_cast<const uint8_t*>(s.data()), s.size()}; }

// A photo-like image: smooth, with an edge and some grain.
std::vector<uint8_t> scene(int width, int height) {
  std::vector<uint8_t> rgb;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < 3; ++c)
        rgb.push_back(uint8_t((x * (c + 1) + y * (3 - c)) / 3 % 200 + (x > y ? 40 : 0) + int(mix64(rgb.size()) % 16)));
  return rgb;
}

TEST(Jpeg, DecodesWhatPillowDecodes) {
  JpegDecoder decoder;
  for (const pillow::Jpeg& jpeg : pillow::kJpegs) {
    const std::vector<uint8_t> file = pillow::bytes(jpeg);
    decoder.open(file, jpeg.name);
    ASSERT_EQ(decoder.width(), 24);
    ASSERT_EQ(decoder.height(), 16);
    const DecodedPart part = decoder.decode({0, 0, 24, 16}, 1);
    for (const pillow::Sample& sample : jpeg.samples)
      for (size_t c = 0; c < 3; ++c)
        // CMYK is rounded in another order
        EXPECT_NEAR(part.pixel(sample.x, sample.y)[c], sample.rgb[c], std::string(jpeg.name).ends_with("k") ? 1 : 0)
            << jpeg.name << ' ' << sample.x << ' ' << sample.y;
  }
}

TEST(Jpeg, APartEqualsThatPartOfTheWhole) {
  JpegDecoder whole, part;
  for (const auto& [width, height] : {std::pair{97, 61}, {64, 64}, {500, 375}, {17, 9}}) {
    const std::string file = encode_jpeg(scene(width, height), width, height, 85);
    for (const int denominator : {1, 2, 4, 8}) {
      whole.open(as_bytes(file), "whole");
      const DecodedPart all = whole.decode({0, 0, width, height}, denominator);
      EXPECT_EQ(all.at.width, (width + denominator - 1) / denominator);
      EXPECT_EQ(all.at.height, (height + denominator - 1) / denominator);
      for (uint64_t i = 0; i < 12; ++i) {
        const auto below = [&](uint64_t k, int n) { return int(random_bits(1, i, k) % uint64_t(n)); };
        PixelRect rect{below(0, width), below(1, height), 0, 0};
        rect.width = 1 + below(2, width - rect.x);
        rect.height = 1 + below(3, height - rect.y);
        part.open(as_bytes(file), "part");
        const DecodedPart some = part.decode(rect, denominator);
        ASSERT_LE(some.at.x * denominator, rect.x);
        ASSERT_LE(some.at.y * denominator, rect.y);
        ASSERT_GE(std::min((some.at.x + some.at.width) * denominator, width), rect.x + rect.width);
        ASSERT_GE((some.at.y + some.at.height) * denominator, rect.y + rect.height);
        for (int y = rect.y / denominator; y * denominator < rect.y + rect.height; ++y)
          for (int x = rect.x / denominator; x * denominator < rect.x + rect.width; ++x)
            for (int c = 0; c < 3; ++c)
              ASSERT_EQ(some.pixel(x, y)[c], all.pixel(x, y)[c])
                  << width << 'x' << height << " 1/" << denominator << " at " << x << ' ' << y;
      }
    }
  }
}

TEST(Jpeg, KeepsTheImage) {
  const std::vector<uint8_t> rgb = scene(120, 80);
  const std::string file = encode_jpeg(rgb, 120, 80, 95);
  JpegDecoder decoder;
  decoder.open(as_bytes(file), "image");
  const DecodedPart part = decoder.decode({0, 0, 120, 80}, 1);
  double squares = 0;
  for (int y = 0; y < 80; ++y)
    for (int x = 0; x < 120; ++x)
      for (int c = 0; c < 3; ++c) squares += std::pow(part.pixel(x, y)[c] - rgb[size_t((y * 120 + x) * 3 + c)], 2);
  EXPECT_LT(std::sqrt(squares / double(rgb.size())), 10);  // the grain's colour is lost with 4:2:0, the picture is not
}

TEST(Jpeg, DamageIsAnErrorThatNamesTheFile) {
  const std::string good = encode_jpeg(scene(200, 150), 200, 150, 85);
  JpegDecoder decoder;
  const auto decoding = [&](const std::string& file) {
    return error_of([&] {
      decoder.open(as_bytes(file), "photo.jpg");
      decoder.decode({0, 0, decoder.width(), decoder.height()}, 1);
    });
  };
  EXPECT_THAT(decoding(""), AllOf(HasSubstr("photo.jpg"), HasSubstr("the file is empty")));
  EXPECT_THAT(decoding("just some text, no image"), AllOf(HasSubstr("photo.jpg"), HasSubstr("Not a JPEG file")));
  EXPECT_THAT(decoding(good.substr(0, good.size() / 2)), AllOf(HasSubstr("photo.jpg"), HasSubstr("Premature end")));
  EXPECT_THAT(decoding(good.substr(0, 100)), HasSubstr("photo.jpg"));
  EXPECT_THAT(decoding(good.substr(0, 2)), HasSubstr("photo.jpg"));
  EXPECT_EQ(decoding(good), "");  // and the decoder works on
  EXPECT_EQ(decoding(good + "stray bytes after the end"), "");
}

TEST(Jpeg, RandomDamageNeverCrashes) {
  const std::string good = encode_jpeg(scene(64, 48), 64, 48, 85);
  JpegDecoder decoder;
  int failures = 0;
  for (uint64_t i = 0; i < 2000; ++i) {
    std::string file = good;
    for (uint64_t k = 0; k <= i % 4; ++k) file[random_bits(i, 0, k) % file.size()] = char(random_bits(i, 1, k));
    failures += !error_of([&] {
                   decoder.open(as_bytes(file), "damaged");
                   // A damaged header may promise a huge image; a corner of it is enough here.
                   decoder.decode({0, 0, std::min(decoder.width(), 64), std::min(decoder.height(), 48)}, 1 << i % 4);
                 }).empty();
  }
  EXPECT_GT(failures, 100);
  EXPECT_LT(failures, 1900);
}

}  // namespace
}  // namespace erg
