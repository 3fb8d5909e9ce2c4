// Token files byte by byte, and every way in which one can be wrong.
#include "data/token_file.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <vector>

#include "core/file.hpp"
#include "temporary_folder.hpp"

namespace erg {
namespace {

using testing::HasSubstr;

std::string header(std::initializer_list<uint32_t> words) {
  std::vector<uint32_t> all(words);
  all.resize(256);
  return {reinterpret_cast<const char*>(all.data()), all.size() * 4};
}

void write(const std::string& path, int64_t vocabulary, const std::vector<int>& tokens) {
  TokenWriter writer(path, vocabulary);
  writer.append(std::span(tokens).first(2));
  writer.append(std::span(tokens).subspan(2));
  writer.finish();
}

int32_t token(const TokenFile& file, int64_t position) {
  int32_t id = -1;
  file.read(position, std::span(&id, 1), 1 << 30);
  return id;
}

TEST(TokenFile, IsLlmCsFormat) {
  const TemporaryFolder folder;
  write(folder / "t.bin", 65536, {1, 2, 65535});
  EXPECT_EQ(read_file(folder / "t.bin"), header({20240520, 1, 3}) + std::string("\x01\0\x02\0\xff\xff", 6));
}

TEST(TokenFile, LargeVocabulariesTakeFourBytes) {
  const TemporaryFolder folder;
  write(folder / "t.bin", 65537, {1, 2, 65536});
  EXPECT_EQ(read_file(folder / "t.bin"), header({20240801, 7, 3}) + std::string("\x01\0\0\0\x02\0\0\0\0\0\x01\0", 12));
}

TEST(TokenFile, ReadsWhatWasWritten) {
  const TemporaryFolder folder;
  for (const int64_t vocabulary : {50257, 128256}) {
    std::vector<int> tokens;
    for (int i = 0; i < 1000; ++i) tokens.push_back(int(i * 7919 % vocabulary));
    write(folder / "t.bin", vocabulary, tokens);
    const TokenFile file(folder / "t.bin");
    ASSERT_EQ(file.size(), 1000);
    for (int64_t i = 0; i < 1000; ++i) ASSERT_EQ(token(file, i), tokens[size_t(i)]);
  }
}

TEST(TokenFile, CountsBeyond32Bits) {  // a sparse file: 5 billion tokens that take no space
  const TemporaryFolder folder;
  constexpr int64_t kCount = 5'000'000'000;
  const std::string path = folder.write("t.bin", header({20240520, 1, uint32_t(kCount & 0xffffffff), uint32_t(kCount >> 32)}));
  std::error_code failure;
  std::filesystem::resize_file(path, 1024 + 2 * kCount, failure);
  if (failure) GTEST_SKIP() << "this file system holds no sparse file of 10 GB: " << failure.message();
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(1024 + 2 * (kCount - 1)).write("\x2a\0", 2);
  const TokenFile file(path);
  EXPECT_EQ(file.size(), kCount);
  EXPECT_EQ(token(file, kCount - 1), 42);
  EXPECT_EQ(token(file, kCount / 2), 0);
}

TEST(TokenFile, RefusesWhatItIsNot) {
  const TemporaryFolder folder;
  const auto opening = [&](const std::string& content) {
    const std::string path = folder.write("t.bin", content);
    return error_of([&] { TokenFile file(path); });
  };
  EXPECT_THAT(opening(""), HasSubstr("0 bytes are too few"));
  EXPECT_THAT(opening(header({20240520, 1, 0}).substr(1)), HasSubstr("1023 bytes are too few"));
  EXPECT_THAT(opening(header({20240521, 1, 0})), HasSubstr("not a token file: magic 20240521"));
  EXPECT_THAT(opening(header({20240520, 2, 0})), HasSubstr("version 2"));
  EXPECT_THAT(opening(header({20240520, 1, 3}) + std::string("\x01\0\x02", 3)), HasSubstr("says 3 tokens, the file holds 1"));
  EXPECT_THAT(opening(header({20240520, 1, 1}) + "\x01\x02\x03"), HasSubstr("says 1 tokens"));
  EXPECT_THAT(error_of([&] { TokenFile file(folder / "none.bin"); }), HasSubstr("No such file"));
  EXPECT_EQ(opening(header({20240520, 1, 0})), "");
}

TEST(TokenFile, AnUnfinishedOneLeavesNothing) {
  const TemporaryFolder folder;
  { TokenWriter writer(folder / "t.bin", 100); }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  EXPECT_THROW(TokenWriter(folder / "no/such/t.bin", 100), Error);
}

}  // namespace
}  // namespace erg
