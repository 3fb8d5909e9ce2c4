// Batches from token files: windows are what the file holds, an epoch covers it, validation is sequential, and bad data is found.
#include <gmock/gmock.h>

#include <numeric>
#include <set>

#include "data/batches.hpp"
#include "data/token_file.hpp"
#include "temporary_folder.hpp"

namespace erg {
namespace {

using testing::HasSubstr;

// A folder whose training tokens are 0, 1, 2, … and whose validation tokens count down from the top of the vocabulary.
struct CountingFolder : TemporaryFolder {
  CountingFolder(int64_t train, int64_t validation, int64_t vocabulary) {
    std::vector<int> ids(static_cast<size_t>(train));
    std::iota(ids.begin(), ids.end(), 0);
    put("train.bin", ids, vocabulary);
    ids.resize(size_t(validation));
    for (size_t i = 0; i < ids.size(); ++i) ids[i] = int(vocabulary) - 1 - int(i);
    put("val.bin", ids, vocabulary);
    write("data.json", "{\"vocabulary\": " + std::to_string(vocabulary) + "}");
  }
  void put(const char* name, const std::vector<int>& ids, int64_t vocabulary) const {
    TokenWriter writer(*this / name, vocabulary);
    writer.append(ids);
    writer.finish();
  }
};

TEST(TokenBatches, RowsAreWindowsOfTheText) {
  const CountingFolder folder(1000, 100, 2000);
  const auto batches = token_files(folder.path(), {4, 16, 2000}, 1);
  for (int i = 0; i < 50; ++i) {
    const HostBatch& batch = batches->next(Split::train);
    for (size_t row = 0; row < 4; ++row) {
      for (size_t s = 0; s < 16; ++s) {
        ASSERT_EQ(batch.tokens[row * 16 + s], batch.tokens[row * 16] + int(s));
        ASSERT_EQ(batch.targets[row * 16 + s], batch.tokens[row * 16 + s] + 1);
      }
    }
  }
  EXPECT_TRUE(batches->real());
}

TEST(TokenBatches, AnEpochLearnsEachTokenOnce) {
  constexpr int64_t kTokens = 1000, kSequence = 16;
  const CountingFolder folder(kTokens, 100, 2000);
  const auto batches = token_files(folder.path(), {1, kSequence, 2000}, 1);
  int64_t offset = -1;
  for (int epoch = 0; epoch < 5; ++epoch) {
    std::set<int32_t> starts;
    int64_t smallest = kTokens, windows = 0;
    for (; windows == 0 || windows < (kTokens - 1 - smallest % kSequence) / kSequence; ++windows) {
      const int32_t start = batches->next(Split::train).tokens[0];
      EXPECT_TRUE(starts.insert(start).second) << "seen twice";
      smallest = std::min<int64_t>(smallest, start);
      EXPECT_EQ((start - *starts.begin()) % kSequence, 0);
    }
    EXPECT_LT(*starts.begin(), kSequence);
    EXPECT_GT(*starts.rbegin(), kTokens - 1 - 2 * kSequence);
    EXPECT_EQ(int64_t(starts.size()), (*starts.rbegin() - *starts.begin()) / kSequence + 1);
    EXPECT_NE(*starts.begin(), offset) << "each epoch has an offset of its own";
    offset = *starts.begin();
  }
}

TEST(TokenBatches, TheSeedDecides) {
  const CountingFolder folder(5000, 100, 6000);
  const TextShape shape{4, 16, 6000};
  const auto a = token_files(folder.path(), shape, 1), b = token_files(folder.path(), shape, 1),
             other = token_files(folder.path(), shape, 2);
  for (int i = 0; i < 200; ++i) {
    const auto tokens = a->next(Split::train).tokens;
    ASSERT_EQ(tokens, b->next(Split::train).tokens);
    if (i < 3) { EXPECT_NE(tokens, other->next(Split::train).tokens); }
  }
}

TEST(TokenBatches, ValidationReadsOnwardAndStartsAgain) {
  const CountingFolder folder(1000, 50, 2000);  // 49 / 16 = 3 windows
  const auto batches = token_files(folder.path(), {2, 16, 2000}, 1);
  EXPECT_EQ(batches->next(Split::validation).tokens[16], 1999 - 16);
  batches->next(Split::train);
  const HostBatch& second = batches->next(Split::validation);
  EXPECT_EQ(second.tokens[0], 1999 - 32);
  EXPECT_EQ(second.tokens[16], 1999);
}

TEST(TokenBatches, OneWindowIsEnough) {
  const CountingFolder folder(17, 17, 100);
  const auto batches = token_files(folder.path(), {3, 16, 100}, 1);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(batches->next(Split::train).tokens[16], 0);
  EXPECT_THAT(error_of([&] { token_files(folder.path(), {1, 17, 100}, 1); }), HasSubstr("17 tokens are too few for a sequence of 17"));
}

TEST(TokenBatches, FindsBadData) {
  const CountingFolder folder(1000, 100, 2000);
  EXPECT_THAT(error_of([&] { token_files(folder.path(), {1, 16, 1999}, 1); }), HasSubstr("2000 tokens, the model only 1999"));
  folder.write("data.json", "{\"vocabulary\": 500}");
  const auto batches = token_files(folder.path(), {64, 16, 2000}, 1);
  EXPECT_THAT(error_of([&] { batches->next(Split::train); }),
              testing::AllOf(HasSubstr("outside the vocabulary of 500"), HasSubstr("train.bin")));
  folder.write("data.json", "[]");
  EXPECT_THAT(error_of([&] { token_vocabulary(folder.path()); }), HasSubstr("does not name a vocabulary"));
  EXPECT_THROW(token_files(folder / "none", {1, 16, 2000}, 1), Error);
}

}  // namespace
}  // namespace erg
