// The fixed batches against values that Python computed from the formulas of rng.hpp and batches.hpp.
#include <gmock/gmock.h>

#include "core/error.hpp"
#include "data/batches.hpp"

namespace erg {
namespace {

using testing::ElementsAre;

TEST(Fixed, TokensFollowTheFormula) {
  const auto batches = fixed_tokens({2, 4, 50257}, 3);
  const HostBatch& batch = batches->next(Split::train);
  // positions 0-9 of stream 1000 are 16326 22524 23832 5257 305 | 30893 36140 32642 5274 6868
  EXPECT_THAT(batch.tokens, ElementsAre(16326, 22524, 23832, 5257, 30893, 36140, 32642, 5274));
  EXPECT_THAT(batch.targets, ElementsAre(22524, 23832, 5257, 305, 36140, 32642, 5274, 6868));
}

TEST(Fixed, ImagesFollowTheFormula) {
  const auto batches = fixed_images({2, 4, 1000}, 3);
  const HostBatch& batch = batches->next(Split::validation);
  ASSERT_EQ(batch.pixels.size(), 2u * 3 * 4 * 4);
  EXPECT_EQ(batch.pixels[0], 0.5892846584320068f);
  EXPECT_EQ(batch.pixels[1], -0.9704071283340454f);
  EXPECT_EQ(batch.pixels[2], -0.9754345417022705f);
  EXPECT_EQ(batch.pixels[47], 0.3894420862197876f);
  EXPECT_THAT(batch.targets, ElementsAre(407, 706));
}

TEST(Fixed, IsTheSameEveryTime) {
  const auto batches = fixed_tokens({2, 8, 100}, 1);
  const std::vector<int32_t> first = batches->next(Split::train).tokens;
  EXPECT_EQ(batches->next(Split::train).tokens, first);
  EXPECT_NE(fixed_tokens({2, 8, 100}, 2)->next(Split::train).tokens, first);
}

TEST(Fixed, RefusesEmptyShapes) {
  EXPECT_THROW(fixed_tokens({0, 8, 100}, 1), Error);
  EXPECT_THROW(fixed_tokens({1, 0, 100}, 1), Error);
  EXPECT_THROW(fixed_tokens({1, 8, 1}, 1), Error);
  EXPECT_THROW(fixed_images({1, 0, 10}, 1), Error);
  EXPECT_THROW(fixed_images({1, 8, 0}, 1), Error);
}

}  // namespace
}  // namespace erg
