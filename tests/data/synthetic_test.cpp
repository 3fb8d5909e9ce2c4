// Synthetic data: reproducible, validation apart from training, and learnable: there is less surprise in it than in uniform noise.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "data/batches.hpp"
#include "data/skew.hpp"

namespace erg {
namespace {

double entropy(const std::map<int64_t, double>& counts) {
  double total = 0, sum = 0;
  for (const auto& [key, n] : counts) total += n;
  for (const auto& [key, n] : counts) sum -= n / total * std::log(n / total);
  return sum;
}

TEST(Skew, OctavesTileTheRange) {
  for (const int64_t n : {1, 2, 3, 7, 8, 1000, 50257}) {
    for (int64_t next = 0; next < n;) {
      const Octave octave = octave_of(next, n);
      EXPECT_EQ(octave.first, next);
      EXPECT_EQ(octave_of(octave.first + octave.size - 1, n).first, next);
      next += octave.size;
      EXPECT_LE(next, n);
    }
  }
}

TEST(Skew, ReachesBothEndsAndNothingElse) {
  EXPECT_EQ(skewed(0, 1000), 0);
  EXPECT_EQ(skewed(~uint64_t(0), 1000), 999);
  EXPECT_EQ(skewed(~uint64_t(0), 1), 0);
}

TEST(SyntheticTokens, AreReproducible) {
  const auto a = synthetic_tokens({2, 64, 1000}, 5), b = synthetic_tokens({2, 64, 1000}, 5), other = synthetic_tokens({2, 64, 1000}, 6);
  for (int i = 0; i < 3; ++i) {
    const auto tokens = a->next(Split::train).tokens;
    EXPECT_EQ(tokens, b->next(Split::train).tokens);
    EXPECT_NE(tokens, other->next(Split::train).tokens);
    b->next(Split::validation);  // what one split gives does not depend on the other
  }
}

TEST(SyntheticTokens, TargetsAreTheNextTokens) {
  const auto batches = synthetic_tokens({3, 10, 500}, 1);
  const HostBatch& batch = batches->next(Split::train);
  for (size_t row = 0; row < 3; ++row)
    for (size_t s = 0; s + 1 < 10; ++s) EXPECT_EQ(batch.targets[row * 10 + s], batch.tokens[row * 10 + s + 1]);
}

// What a model can learn: the loss starts at ln V, reaches the entropy of single tokens, then that of a token given the one before.
TEST(SyntheticTokens, AreLearnable) {
  constexpr int64_t kVocabulary = 512;
  for (const Split split : {Split::train, Split::validation}) {
    const auto batches = synthetic_tokens({32, 256, kVocabulary}, 1);
    std::map<int64_t, double> single, pair;
    for (int i = 0; i < 20; ++i) {
      const HostBatch& batch = batches->next(split);
      for (size_t t = 0; t < batch.tokens.size(); ++t) {
        ASSERT_GE(batch.targets[t], 0);
        ASSERT_LT(batch.targets[t], kVocabulary);
        ++single[batch.targets[t]];
        ++pair[batch.tokens[t] * kVocabulary + batch.targets[t]];
      }
    }
    const double of_one = entropy(single), of_next = entropy(pair) - of_one;
    EXPECT_LT(of_one, 0.75 * std::log(kVocabulary));
    EXPECT_LT(of_next, 0.5 * of_one);
    EXPECT_GT(of_next, 0.5);  // never so plain that the loss reaches 0
  }
}

TEST(SyntheticTokens, BothSplitsFollowTheSameChain) {
  const auto batches = synthetic_tokens({8, 256, 64}, 1);
  std::map<int32_t, std::map<int32_t, int>> train, validation;
  for (int i = 0; i < 8; ++i) {
    for (auto [split, successors] : {std::pair{Split::train, &train}, std::pair{Split::validation, &validation}}) {
      const HostBatch& batch = batches->next(split);
      for (size_t t = 0; t < batch.tokens.size(); ++t) ++(*successors)[batch.tokens[t]][batch.targets[t]];
    }
  }
  const auto likeliest = [](const std::map<int32_t, int>& counts) {
    return std::max_element(counts.begin(), counts.end(), [](auto& a, auto& b) { return a.second < b.second; })->first;
  };
  for (const int32_t token : {0, 1, 2, 5, 10}) EXPECT_EQ(likeliest(train[token]), likeliest(validation[token])) << token;
  EXPECT_NE(batches->next(Split::train).tokens, batches->next(Split::validation).tokens);
}

TEST(SyntheticImages, AreReproducibleAndNormalised) {
  const auto a = synthetic_images({8, 33, 10}, 5), b = synthetic_images({8, 33, 10}, 5);
  const auto pixels = a->next(Split::train).pixels;
  EXPECT_EQ(pixels, b->next(Split::train).pixels);
  EXPECT_NE(pixels, a->next(Split::train).pixels);
  EXPECT_NE(pixels, b->next(Split::validation).pixels);
  double sum = 0, squares = 0;
  for (const float p : pixels) {
    sum += p;
    squares += double(p) * p;
  }
  EXPECT_NEAR(sum / double(pixels.size()), 0, 0.5);
  EXPECT_NEAR(squares / double(pixels.size()), 1, 0.5);
}

// The mean colour alone tells most classes apart: a nearest-mean classifier learned from training images finds validation's labels.
TEST(SyntheticImages, AreLearnable) {
  constexpr int64_t kClasses = 6, kPlane = 16 * 16;
  const auto batches = synthetic_images({64, 16, kClasses}, 1);
  const auto colour = [](const HostBatch& batch, size_t n, size_t c) {
    double sum = 0;
    for (size_t i = 0; i < kPlane; ++i) sum += batch.pixels[(n * 3 + c) * kPlane + i];
    return sum / kPlane;
  };
  double mean[kClasses][3] = {}, count[kClasses] = {};
  for (int i = 0; i < 8; ++i) {
    const HostBatch& batch = batches->next(Split::train);
    for (size_t n = 0; n < 64; ++n) {
      for (size_t c = 0; c < 3; ++c) mean[batch.targets[n]][c] += colour(batch, n, c);
      ++count[batch.targets[n]];
    }
  }
  const HostBatch& batch = batches->next(Split::validation);
  int right = 0;
  for (size_t n = 0; n < 64; ++n) {
    double nearest = 1e9;
    int64_t label = -1;
    for (int64_t k = 0; k < kClasses; ++k) {
      double distance = 0;
      for (size_t c = 0; c < 3; ++c) distance += std::pow(colour(batch, n, c) - mean[k][c] / count[k], 2);
      if (distance < nearest) nearest = distance, label = k;
    }
    right += label == batch.targets[n];
  }
  EXPECT_GE(right, 48);  // by chance 11 to 25, the share of the likeliest class
}

}  // namespace
}  // namespace erg
