// What workload.data may say for text: places, blends, what is held back; and files that change or lie.
#include "data/token_source.hpp"

#include <gmock/gmock.h>

#include "data/blend.hpp"
#include "temporary_folder.hpp"
#include "token_bytes.hpp"

namespace erg {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(ParseBlend, TakesMegatronsForm) {
  const auto places = parse_blend(" 3 a_text_document\t1.0  b_*.bin ");
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places[0].place, "a_text_document");
  EXPECT_DOUBLE_EQ(places[0].weight, 0.75);
  EXPECT_EQ(places[1].place, "b_*.bin");
  EXPECT_DOUBLE_EQ(places[1].weight, 0.25);
  EXPECT_EQ(parse_blend("a").size(), 1u);
  const TemporaryFolder folder;
  const std::string blanks = folder.write("two words.bin", "x");
  EXPECT_EQ(parse_blend(blanks)[0].place, blanks);
}

TEST(ParseBlend, SaysWhatIsWrong) {
  EXPECT_THAT(error_of([] { parse_blend("  "); }), HasSubstr("names no data"));
  EXPECT_THAT(error_of([] { parse_blend("0.7 a 0.3"); }), HasSubstr("too many"));
  for (const char* weight : {"a", "0", "-1", "nan", "inf", "0.5x", "1e999"})
    EXPECT_THAT(error_of([&] { parse_blend(std::string(weight) + " a 1 b"); }), HasSubstr("is not a weight above 0")) << weight;
  EXPECT_THAT(error_of([] { parse_blend("1e308 a 1e308 b"); }), HasSubstr("too large"));
}

// Which source gives each sample, by a line for line Python version of Megatron's helpers.cpp, build_blending_indices.
TEST(Blend, IsMegatrons) {
  const auto sequence = [](std::vector<double> weights, size_t n) {
    const Blend blend(weights);
    std::vector<int64_t> given(weights.size());
    std::string text;
    for (size_t i = 0; i < n; ++i) {
      const size_t source = blend.choose(given);
      ++given[source];
      text += char('0' + source);
    }
    return text;
  };
  EXPECT_EQ(sequence({0.7, 0.3}, 40), "0100100100010010010001001001000100100100");
  EXPECT_EQ(sequence({1 / 8.0, 2 / 8.0, 5 / 8.0}, 40), "2102212202122122021221220212212202122122");
  EXPECT_EQ(sequence({0.5, 0.25, 0.125, 0.125}, 40), "0120301001203010012030100120301001203010");
}

TEST(TokenFilesAt, FindsFilesPrefixesAndGlobs) {
  const TemporaryFolder folder;
  for (const char* name : {"b_2.bin", "b_10.bin", "m.bin", "m.idx", "x.txt"}) folder.write(name, "x");
  const auto at = [&](const char* place) { return token_files_at(folder / place); };
  EXPECT_THAT(at("b_2.bin"), ElementsAre(folder / "b_2.bin"));
  EXPECT_THAT(at("b_*.bin"), ElementsAre(folder / "b_10.bin", folder / "b_2.bin"));  // by bytes, as glob in Python sorts
  for (const char* name : {"m", "m.bin", "m.idx", "m*", "m.*"}) EXPECT_THAT(at(name), ElementsAre(folder / "m.bin")) << name;
  EXPECT_THAT(error_of([&] { at("none*"); }), AllOf(HasSubstr("none*"), HasSubstr("No such file")));
  folder.write("alone.idx", "x");
  EXPECT_THAT(error_of([&] { at("alone"); }), AllOf(HasSubstr("alone.bin"), HasSubstr("no .bin beside it")));
}

TEST(TokenFilesAt, ALinkInACircleIsCalledThat) {
  const TemporaryFolder folder;
  const std::filesystem::path loop = std::filesystem::path(folder.path()) / "loop.bin";
  std::filesystem::create_symlink("loop.bin", loop);
  EXPECT_THAT(error_of([&] { token_files_at(loop.string()); }), AllOf(HasSubstr("loop.bin"), HasSubstr("circle")));
}

TEST(TokenSource, ReadsShardsAsOneText) {
  const TemporaryFolder folder;
  folder.write("s_0.bin", llmc_bytes(counting(0, 70)));
  folder.write("s_1.bin", llmc_bytes({}));  // an empty shard does no harm
  folder.write("s_2.bin", llmc_bytes(counting(70, 30), true));
  folder.write("s_3.bin", raw_array<int32_t>(counting(100, 100)));
  folder.write("s_3.idx", MegatronIndex(4, 4, {60, 40}).bytes());
  const TokenSource source(folder / "s_*.bin", 9);
  EXPECT_EQ(source.size(Split::train), 190);  // of 22 windows of 9 one is held back: 10 tokens
  EXPECT_EQ(source.size(Split::validation), 10);
  std::vector<int32_t> ids(190);
  source.read(Split::train, 0, ids, 200);
  for (int i = 0; i < 190; ++i) ASSERT_EQ(ids[size_t(i)], i);
  source.read(Split::train, 65, std::span(ids).first(40), 200);  // over two borders
  EXPECT_EQ(ids[39], 104);
  source.read(Split::validation, 0, std::span(ids).first(10), 200);
  EXPECT_EQ(ids[0], 190);
  EXPECT_EQ(ids[9], 199);
}

TEST(TokenSource, HoldsBackOnePercentOfTheWindows) {
  EXPECT_EQ(held_back_windows(2), 1);
  EXPECT_EQ(held_back_windows(199), 1);
  EXPECT_EQ(held_back_windows(200), 2);
  EXPECT_EQ(held_back_windows(1'000'000'000'000), 10'000'000'000);
  const TemporaryFolder folder;
  const std::string path = folder.write("t.bin", llmc_bytes(counting(0, 20)));
  EXPECT_EQ(TokenSource(path, 9).size(Split::train), 10);  // exactly two windows, with nothing in common
  EXPECT_THAT(error_of([&] { TokenSource(path, 10); }),
              AllOf(HasSubstr("t.bin"), HasSubstr("20 tokens are too few"), HasSubstr("22 tokens")));
  EXPECT_THAT(error_of([&] { TokenSource(folder.write("none.bin", llmc_bytes({})), 1); }), HasSubstr("0 tokens are too few"));
}

TEST(TokenSource, AnIdOutsideNamesFileAndPosition) {
  const TemporaryFolder folder;
  folder.write("s_0.bin", llmc_bytes(counting(0, 50)));
  folder.write("s_1.bin", llmc_bytes(counting(20, 50)));
  const auto batches = token_files(folder / "s_*.bin", {16, 8, 50}, 1);
  EXPECT_THAT(error_of([&] { batches->next(Split::train); }),
              AllOf(HasSubstr("s_1.bin: token "), HasSubstr("is outside the vocabulary of 50"), HasSubstr("workload.vocabulary")));
}

TEST(TokenSource, AFileThatShrinksWhileTrainingIsAnError) {  // where a map would be SIGBUS
  const TemporaryFolder folder;
  const std::string path = folder.write("t.bin", llmc_bytes(counting(0, 60000)));
  const auto batches = token_files(path, {8, 64, 65536}, 1);
  batches->next(Split::train);
  std::filesystem::resize_file(path, 2048);
  EXPECT_THAT(error_of([&] {
                for (int i = 0; i < 50; ++i) batches->next(Split::train);
              }),
              AllOf(HasSubstr("t.bin"), HasSubstr("has 2048 bytes, it had 121024 when it was opened")));
}

TEST(TokenSource, WhatIsNoFileIsRefused) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "dir.bin");
  EXPECT_THAT(error_of([&] { TokenFile file(folder / "dir.bin"); }), HasSubstr("is not a file"));
  std::filesystem::create_symlink("loop.bin", folder / "loop.bin");
  EXPECT_THAT(error_of([&] { TokenFile file(folder / "loop.bin"); }), AllOf(HasSubstr("loop.bin"), HasSubstr("symbolic links")));
  EXPECT_THAT(error_of([&] { TokenSource(folder.path(), 8); }), HasSubstr("data.json"));
}

TEST(TokenBlend, GivesSamplesByWeight) {
  const TemporaryFolder folder;
  folder.write("low.bin", llmc_bytes(counting(0, 5000)));
  folder.write("high.bin", llmc_bytes(counting(10000, 5000)));
  const auto batches = token_files("0.7 " + (folder / "low.bin") + " 0.3 " + (folder / "high.bin"), {1, 16, 65536}, 1);
  const std::string order = "0100100100010010010001001001000100100100";  // of Blend.IsMegatrons
  for (size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(batches->next(Split::train).tokens[0] >= 10000, order[i] == '1') << i;
    EXPECT_EQ(batches->next(Split::validation).tokens[0] >= 10000, order[i] == '1') << i;
  }
  const DataPosition position = batches->position();
  ASSERT_EQ(position.size(), 2u);
  EXPECT_EQ(position[0].samples + position[1].samples, 40);
  EXPECT_EQ(batches->facts().files, (std::vector<std::string>{folder / "low.bin", folder / "high.bin"}));
}

}  // namespace
}  // namespace erg
