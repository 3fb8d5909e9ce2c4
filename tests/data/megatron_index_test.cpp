// Megatron's .bin and .idx: every integer type, and every number of an index that can be wrong.
#include <gmock/gmock.h>

#include <limits>

#include "data/token_file.hpp"
#include "temporary_folder.hpp"
#include "token_bytes.hpp"

namespace erg {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<int32_t> all_of(const TokenFile& file, int64_t vocabulary = 1 << 30) {
  std::vector<int32_t> ids(static_cast<size_t>(file.size()));
  file.read(0, ids, vocabulary);
  return ids;
}

// What opening a pair of files says, "" when they are good.
std::string opening(const TemporaryFolder& folder, const std::string& index, const std::string& bin) {
  folder.write("t.idx", index);
  const std::string path = folder.write("t.bin", bin);
  return error_of([&] { TokenFile file(path); });
}

TEST(MegatronIndex, EveryIntegerType) {
  const TemporaryFolder folder;
  const std::vector<int64_t> ids{3, 1, 4, 1, 5, 92};
  const auto check = [&](uint8_t code, const std::string& bin) {
    ASSERT_EQ(opening(folder, MegatronIndex(code, int64_t(bin.size() / 6), {2, 0, 4}).bytes(), bin), "") << int(code);
    const TokenFile file(folder / "t.bin");
    EXPECT_THAT(all_of(file), ElementsAre(3, 1, 4, 1, 5, 92)) << int(code);
    EXPECT_EQ(file.layout().documents, 3);
  };
  check(1, raw_array<uint8_t>(ids));
  check(2, raw_array<int8_t>(ids));
  check(3, raw_array<int16_t>(ids));
  check(4, raw_array<int32_t>(ids));
  check(5, raw_array<int64_t>(ids));
  check(8, raw_array<uint16_t>(ids));
}

TEST(MegatronIndex, FloatsAndUnknownTypesAreRefused) {
  const TemporaryFolder folder;
  EXPECT_THAT(opening(folder, MegatronIndex(6, 8, {1}).bytes(), std::string(8, 0)), AllOf(HasSubstr("t.idx"), HasSubstr("float64")));
  EXPECT_THAT(opening(folder, MegatronIndex(7, 4, {1}).bytes(), std::string(4, 0)), HasSubstr("float32"));
  for (const uint8_t code : {0, 9, 255})
    EXPECT_THAT(opening(folder, MegatronIndex(code, 2, {1}).bytes(), "ab"), HasSubstr("type code " + std::to_string(code)));
}

TEST(MegatronIndex, ModesAreOptional) {
  const TemporaryFolder folder;
  MegatronIndex index(8, 2, {1, 2});
  index.rest = std::string(2, 0);
  EXPECT_EQ(opening(folder, index.bytes(), "abcdef"), "");
  index.rest = std::string(1, 0);
  EXPECT_THAT(opening(folder, index.bytes(), "abcdef"), HasSubstr("leave 1 bytes over"));
}

TEST(MegatronIndex, BadHeaders) {
  const TemporaryFolder folder;
  const MegatronIndex good(8, 2, {1, 2});
  EXPECT_THAT(opening(folder, "", "abcdef"), HasSubstr("0 bytes are too few"));
  EXPECT_THAT(opening(folder, good.bytes().substr(0, 33), "abcdef"), HasSubstr("33 bytes are too few"));
  EXPECT_THAT(opening(folder, good.bytes().substr(0, 60), "abcdef"), HasSubstr("do not fit into 60 bytes"));
  MegatronIndex bad = good;
  bad.magic[0] = 'X';
  EXPECT_THAT(opening(folder, bad.bytes(), "abcdef"), HasSubstr("not an index"));
  bad = good;
  bad.version = 2;
  EXPECT_THAT(opening(folder, bad.bytes(), "abcdef"), HasSubstr("version 2"));
  bad = good;
  bad.document_count = 0;
  EXPECT_THAT(opening(folder, bad.bytes(), "abcdef"), HasSubstr("leave 24 bytes over"));
  bad.documents.clear();
  EXPECT_THAT(opening(folder, bad.bytes(), "abcdef"), HasSubstr("no document indices"));
}

TEST(MegatronIndex, CountsThatOverflow) {  // 12 · n and 8 · n wrap to small numbers in 64 bits
  const TemporaryFolder folder;
  MegatronIndex bad(8, 2, {1, 2});
  for (const uint64_t count : {uint64_t(1) << 62, ~uint64_t(0), uint64_t(0x1555555555555556), uint64_t(1) << 61}) {
    bad.sequence_count = count;
    bad.document_count = 3;
    EXPECT_THAT(opening(folder, bad.bytes(), "abcdef"), HasSubstr("do not fit")) << count;
    bad.sequence_count = 2;
    bad.document_count = count;
    EXPECT_THAT(opening(folder, bad.bytes(), "abcdef"), HasSubstr("do not fit")) << count;
  }
}

TEST(MegatronIndex, BadSequences) {
  const TemporaryFolder folder;
  const MegatronIndex good(8, 2, {1, 2});
  ASSERT_EQ(opening(folder, good.bytes(), "abcdef"), "");
  const auto with = [&](auto&& change) {
    MegatronIndex bad = good;
    change(bad);
    return opening(folder, bad.bytes(), "abcdef");
  };
  EXPECT_THAT(with([](auto& i) { i.offsets = {2, 0}; }), HasSubstr("sequence 0 begins at byte 2"));  // unsorted
  EXPECT_THAT(with([](auto& i) { i.offsets = {0, 0}; }), HasSubstr("sequence 1 begins at byte 0"));  // overlapping
  EXPECT_THAT(with([](auto& i) { i.offsets[1] = 3; }), HasSubstr("byte 3 of the .bin, the one before ends at 2; tokens have 2"));
  EXPECT_THAT(with([](auto& i) { i.offsets[1] = -2; }), HasSubstr("byte -2"));
  EXPECT_THAT(with([](auto& i) { i.offsets[1] = std::numeric_limits<int64_t>::max(); }), HasSubstr("byte 9223372036854775807"));
  EXPECT_THAT(with([](auto& i) { i.lengths[0] = -1; }), HasSubstr("sequence 0 has the length -1"));
  EXPECT_THAT(with([](auto& i) { i.lengths[1] = std::numeric_limits<int32_t>::max(); }), HasSubstr("goes beyond the .bin's 6 bytes"));
  EXPECT_THAT(with([](auto& i) { i.lengths[1] = 1; }), HasSubstr("end at byte 4, the .bin has 6"));
}

TEST(MegatronIndex, ABinOfAnotherSize) {
  const TemporaryFolder folder;
  const std::string index = MegatronIndex(8, 2, {1, 2}).bytes();
  EXPECT_THAT(opening(folder, index, "abcd"), HasSubstr("beyond the .bin's 4 bytes"));
  EXPECT_THAT(opening(folder, index, "abcdefg"), HasSubstr("end at byte 6, the .bin has 7"));
  EXPECT_THAT(opening(folder, index, ""), HasSubstr("beyond the .bin's 0 bytes"));
}

TEST(MegatronIndex, BadDocuments) {
  const TemporaryFolder folder;
  const auto with = [&](std::vector<int64_t> documents) {
    MegatronIndex index(8, 2, {1, 1, 1});
    index.document_count = documents.size();
    index.documents = std::move(documents);
    return opening(folder, index.bytes(), "abcdef");
  };
  EXPECT_EQ(with({0, 3}), "");
  EXPECT_EQ(with({0, 1, 1, 3}), "");  // an empty document
  EXPECT_THAT(with({1, 3}), HasSubstr("first document begins at sequence 1"));
  EXPECT_THAT(with({0, 2, 1, 3}), HasSubstr("document 2 begins at sequence 1, before the one ahead of it (2)"));
  EXPECT_THAT(with({0, 4}), HasSubstr("document 1 begins at sequence 4 of 3"));
  EXPECT_THAT(with({0, -1, 3}), HasSubstr("document 1 begins at sequence -1"));
  EXPECT_THAT(with({0, 2}), HasSubstr("end at sequence 2 of 3"));
}

TEST(MegatronIndex, TokensBeyondTwoGigabytes) {  // a sparse .bin of 12 GB in three sequences: byte offsets beyond 32 bits
  const TemporaryFolder folder;
  constexpr int64_t kLength = 2'000'000'000;
  folder.write("t.idx", MegatronIndex(8, 2, {kLength, kLength, kLength}).bytes());
  const std::string path = folder.write("t.bin", "");
  std::error_code failure;
  std::filesystem::resize_file(path, 6 * kLength, failure);
  if (failure) GTEST_SKIP() << "this file system holds no sparse file of 12 GB: " << failure.message();
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(2 * (3 * kLength - 1)).write("\x2a\0", 2);
  const TokenFile file(path);
  ASSERT_EQ(file.size(), 3 * kLength);
  int32_t last[2];
  file.read(3 * kLength - 2, last, 100);
  EXPECT_THAT(last, ElementsAre(0, 42));
}

TEST(MegatronIndex, IdsBeyond32BitsAreNotCutOff) {
  const TemporaryFolder folder;
  ASSERT_EQ(opening(folder, MegatronIndex(5, 8, {2}).bytes(), raw_array<int64_t>({7, (int64_t(1) << 32) + 5})), "");
  const TokenFile file(folder / "t.bin");
  EXPECT_THAT(error_of([&] { all_of(file, 100); }),
              AllOf(HasSubstr("t.bin"), HasSubstr("token 4294967301 at position 1 is outside the vocabulary of 100")));
}

}  // namespace
}  // namespace erg
