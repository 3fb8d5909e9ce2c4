// Positions: data taken up where others stopped give the same bits from there on.
#include <gmock/gmock.h>

#include <functional>

#include "data/batches.hpp"
#include "data/make_images.hpp"
#include "temporary_folder.hpp"
#include "token_bytes.hpp"

namespace erg {
namespace {

using testing::HasSubstr;
using Make = std::function<std::unique_ptr<Batches>()>;

void expect_same(Batches& a, Batches& b) {
  for (const Split split : {Split::train, Split::validation}) {
    const HostBatch x = a.next(split), &y = b.next(split);
    ASSERT_EQ(x.tokens, y.tokens);
    ASSERT_EQ(x.targets, y.targets);
    ASSERT_EQ(x.pixels, y.pixels);
  }
}

// After `steps` batches and two of validation; then twice the same for ten more, which crosses epochs.
void expect_resumes(const Make& make, int steps) {
  const auto first = make(), second = make();
  for (int i = 0; i < steps; ++i) first->next(Split::train);
  for (int i = 0; i < 2; ++i) first->next(Split::validation);
  const DataPosition position = first->position();
  second->next(Split::train);  // it need not be fresh
  second->seek(position);
  EXPECT_EQ(second->position(), position);
  for (int i = 0; i < 10; ++i) expect_same(*first, *second);
  EXPECT_EQ(second->position(), first->position());
}

TEST(Position, Synthetic) {
  for (const int steps : {0, 7}) {
    expect_resumes([] { return synthetic_tokens({3, 16, 1000}, 5); }, steps);
    expect_resumes([] { return synthetic_images({3, 8, 10}, 5); }, steps);
    expect_resumes([] { return fixed_tokens({3, 16, 1000}, 5); }, steps);
  }
}

TEST(Position, DoesNotDependOnTheBatchSize) {
  const auto whole = synthetic_tokens({6, 16, 1000}, 5), half = synthetic_tokens({3, 16, 1000}, 5);
  whole->next(Split::train);
  half->seek(whole->position());
  EXPECT_EQ(half->next(Split::train).tokens[0], whole->next(Split::train).tokens[0]);
}

TEST(Position, TokenFilesAndBlends) {
  const TemporaryFolder folder;
  folder.write("a.bin", llmc_bytes(counting(0, 400)));
  folder.write("b.bin", raw_array<int32_t>(counting(500, 300)));
  folder.write("b.idx", MegatronIndex(4, 4, {100, 200}).bytes());
  const std::string blend = "0.6 " + (folder / "a.bin") + " 0.4 " + (folder / "b");
  for (const std::string& data : {folder / "a.bin", folder / "b", blend})
    for (const int steps : {0, 1, 6, 40}) expect_resumes([&] { return token_files(data, {4, 16, 1000}, 3); }, steps);
  const auto batches = token_files(folder / "a.bin", {4, 16, 1000}, 3);
  for (int i = 0; i < 40; ++i) batches->next(Split::train);
  EXPECT_EQ(batches->position()[0].samples, 160);
  EXPECT_EQ(batches->position()[0].epoch, 6);  // 23 windows and an offset cost at most one: 160 = 6 · 23 + 22
}

TEST(Position, ImageFolders) {
  const TemporaryFolder folder;
  make_image_folder({folder / "set", 2, 10, 48, 40, 0.2});
  for (const int steps : {0, 1, 9}) expect_resumes([&] { return image_folder(folder / "set", {3, 16, 2}, 7, 2); }, steps);
  const auto batches = image_folder(folder / "set", {3, 16, 2}, 7, 2);
  for (int i = 0; i < 9; ++i) batches->next(Split::train);
  EXPECT_EQ(batches->position(), (DataPosition{{1, 11, 27, 0}}));  // of 16 images, and not what was made ahead
}

TEST(Position, OfOtherDataIsRefused) {
  const TemporaryFolder folder;
  folder.write("a.bin", llmc_bytes(counting(0, 400)));
  const auto tokens = token_files(folder / "a.bin", {4, 16, 1000}, 3);
  EXPECT_THAT(error_of([&] { tokens->seek({}); }), HasSubstr("is of 0 sources, the data have 1"));
  EXPECT_THAT(error_of([&] { tokens->seek({{0, 24, 24, 0}}); }), HasSubstr("no window 24"));
  EXPECT_THAT(error_of([&] { tokens->seek({{-1, 0, 0, 0}}); }), HasSubstr("negative"));
  EXPECT_EQ(tokens->position(), (DataPosition{{0, 0, 0, 0}}));
  const auto blend = token_files("1 " + (folder / "a.bin") + " 1 " + (folder / "a.bin"), {4, 16, 1000}, 3);
  EXPECT_THAT(error_of([&] { blend->seek({{0, 5, 5, 0}, {0, 24, 24, 0}}); }), HasSubstr("no window 24"));
  EXPECT_EQ(blend->position(), (DataPosition{{0, 0, 0, 0}, {0, 0, 0, 0}}));  // all sources or none
  EXPECT_THAT(error_of([&] { synthetic_tokens({1, 8, 10}, 1)->seek({{1, 2, 3, 0}}); }), HasSubstr("not those of sample 3"));
}

}  // namespace
}  // namespace erg
