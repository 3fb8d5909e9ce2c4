// Reading text: gzip or plain, UTF-8 or an error with the byte where it ends.
#include "data/text.hpp"

#include <gmock/gmock.h>
#include <zlib.h>

#include "temporary_folder.hpp"

namespace erg {
namespace {

using testing::HasSubstr;

TEST(Utf8, AcceptsEveryLength) {
  for (const char* good : {"", "abc", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbf",
                           "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "Grüße, 世界 🙂"})
    EXPECT_EQ(find_invalid_utf8(good), std::nullopt) << good;
  EXPECT_EQ(find_invalid_utf8(std::string_view("\0", 1)), std::nullopt);
}

TEST(Utf8, FindsTheFirstWrongByte) {
  // Unicode 15, section 3.9: overlong forms, surrogates, above U+10FFFF, cut off, stray.
  for (const char* bad : {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
                          "\xf5\x80\x80\x80", "\xff", "\xc3", "\xe2\x82", "\xf0\x9f\x99", "\xc3(", "\xe2\x82("}) {
    EXPECT_EQ(find_invalid_utf8(bad), 0u);
    EXPECT_EQ(find_invalid_utf8(std::string("aé") + bad), 3u);
  }
}

TEST(Pieces, EndAfterANewline) {
  EXPECT_EQ(end_of_piece("ab\ncd", 0), 3u);
  EXPECT_EQ(end_of_piece("ab\ncd", 3), 5u);
  EXPECT_EQ(end_of_piece("\n", 0), 1u);
}

TEST(Pieces, AreCutBetweenCharacters) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "€";  // three bytes each, and 4096 is no multiple of three
  size_t at = 0, pieces = 0;
  while (at < text.size()) {
    const size_t end = end_of_piece(text, at);
    ASSERT_GT(end, at);
    ASSERT_LE(end - at, 4096u);
    ASSERT_EQ(end % 3, 0u);
    at = end;
    ++pieces;
  }
  EXPECT_EQ(pieces, 4u);
}

TEST(ReadText, UnpacksGzip) {
  const TemporaryFolder folder;
  std::string text;
  while (text.size() < 3'000'000) text += "Zeile " + std::to_string(text.size()) + " – line\n";
  const std::string packed = folder / "a.gz";
  gzFile file = gzopen(packed.c_str(), "wb");
  gzwrite(file, text.data(), unsigned(text.size()));
  gzclose(file);
  EXPECT_EQ(read_text(packed), text);
  EXPECT_EQ(read_text(folder.write("a.txt", text)), text);

  std::string half;
  {
    std::ifstream in(packed, std::ios::binary);
    half.assign(std::istreambuf_iterator<char>(in), {});
  }
  half.resize(half.size() / 2);
  EXPECT_THAT(error_of([&] { read_text(folder.write("half.gz", half)); }),
              testing::AllOf(HasSubstr("half.gz"), HasSubstr("cannot unpack")));
}

TEST(ReadText, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  const std::string latin1 = folder.write("latin1.txt", "gr\xfc\xdf");
  EXPECT_THAT(error_of([&] { read_text(latin1); }), testing::AllOf(HasSubstr("latin1.txt"), HasSubstr("not UTF-8 at byte 2 (0xfc)")));
  EXPECT_THAT(error_of([&] { read_text(folder.write("empty.txt", "")); }), HasSubstr("no text"));
  EXPECT_THAT(error_of([&] { read_text(folder.write("blank.txt", " \n\t\r\n ")); }), HasSubstr("only blanks"));
  EXPECT_THAT(error_of([&] { read_text(folder / "none.txt"); }), HasSubstr("No such file"));
  EXPECT_THAT(error_of([&] { read_text(folder.path()); }), HasSubstr("is not a file"));
}

TEST(Fnv1a, GivesThePublishedValues) {  // Fowler, Noll, Vo: test vectors of the 64-bit FNV-1a
  EXPECT_EQ(fnv1a(""), 0xcbf29ce484222325ull);
  EXPECT_EQ(fnv1a("a"), 0xaf63dc4c8601ec8cull);
  EXPECT_EQ(fnv1a("foobar"), 0x85944171f73967e8ull);
}

}  // namespace
}  // namespace erg
