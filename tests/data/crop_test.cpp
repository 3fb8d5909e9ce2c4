// Crops stay inside the photo and are distributed as torchvision's RandomResizedCrop says.
#include "data/crop.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace erg {
namespace {

TEST(RandomResizedCrop, StaysInsideAndInRange) {
  for (const auto& [width, height] : {std::pair{500, 375}, {32, 32}, {1, 1}, {3000, 10}, {7, 900}}) {
    for (uint64_t key = 0; key < 500; ++key) {
      const Box box = random_resized_crop(width, height, key);
      ASSERT_GE(box.x, 0);
      ASSERT_GE(box.y, 0);
      ASSERT_GE(box.width, 1);
      ASSERT_GE(box.height, 1);
      ASSERT_LE(box.x + box.width, width);
      ASSERT_LE(box.y + box.height, height);
      for (const double side : {box.x, box.y, box.width, box.height}) ASSERT_EQ(side, std::floor(side));
    }
  }
}

TEST(RandomResizedCrop, AreaAndAspectAreSpread) {
  constexpr int kDraws = 4000;
  double area = 0, log_aspect = 0, smallest = 1, largest = 0, centre = 0;
  for (uint64_t key = 0; key < kDraws; ++key) {
    const Box box = random_resized_crop(1000, 1000, key);
    const double share = box.width * box.height / 1e6;
    area += share / kDraws;
    log_aspect += std::log(box.width / box.height) / kDraws;
    centre += (box.x + box.width / 2) / kDraws;
    smallest = std::min(smallest, share);
    largest = std::max(largest, share);
    ASSERT_GE(box.width / box.height, 0.74);
    ASSERT_LE(box.width / box.height, 1.35);
  }
  EXPECT_NEAR(smallest, 0.08, 0.005);
  EXPECT_GT(largest, 0.97);
  // Uniform on [0.08, 1] has mean 0.54, but large areas of extreme aspect do not fit a square photo and are drawn again: 200 000 draws
  // of torchvision's algorithm in NumPy have mean 0.478.
  EXPECT_NEAR(area, 0.478, 0.015);
  EXPECT_NEAR(log_aspect, 0, 0.02);
  EXPECT_NEAR(centre, 500, 15);
}

TEST(RandomResizedCrop, FallsBackToTheCentre) {
  const Box wide = random_resized_crop(3000, 10, 1);  // no part of 8 % has an aspect up to 4:3
  EXPECT_EQ(wide.width, 13);
  EXPECT_EQ(wide.height, 10);
  EXPECT_EQ(wide.x, 1493);
  const Box tall = random_resized_crop(9, 900, 1);
  EXPECT_EQ(tall.width, 9);
  EXPECT_EQ(tall.height, 12);
}

TEST(CentralCrop, IsSevenEighthsOfTheShorterSide) {
  const Box box = central_crop(500, 400);
  EXPECT_DOUBLE_EQ(box.width, 350);
  EXPECT_DOUBLE_EQ(box.height, 350);
  EXPECT_DOUBLE_EQ(box.x, 75);
  EXPECT_DOUBLE_EQ(box.y, 25);
}

}  // namespace
}  // namespace erg
