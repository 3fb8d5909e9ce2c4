// Text to token folder: nothing of the text is lost, both documents are in both splits, and the same text gives the same folder.
#include "data/token_folder.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>

#include "core/file.hpp"
#include "core/interrupt.hpp"
#include "data/batches.hpp"
#include "data/inspect.hpp"
#include "data/token_file.hpp"
#include "data/tokenizer.hpp"
#include "sample_text.hpp"
#include "temporary_folder.hpp"

namespace erg {
namespace {

using testing::HasSubstr;

constexpr int64_t kVocabulary = 320;

TokensRequest request_for(const TemporaryFolder& folder, const std::string& out) {
  return {
      {folder.write("a.txt", sample_text(2000, 1)), folder.write("b.txt", "B" + sample_text(2000, 2))}, folder / out, kVocabulary, "", 0.1};
}

// Documents (or, for validation, held-back blocks) of a split, decoded.
std::vector<std::string> documents(const std::string& folder, const char* split) {
  const TokenFile file(folder + "/" + split);
  const Tokenizer tokenizer(read_file(folder + "/tokenizer.model"));
  std::vector<std::string> found;
  std::vector<int> all(static_cast<size_t>(file.size())), ids;
  file.read(0, all, kVocabulary);
  for (const int id : all) {
    if (id != *tokenizer.end_of_text()) {
      ids.push_back(id);
    } else {
      found.push_back(tokenizer.decode(ids));
      ids.clear();
    }
  }
  EXPECT_TRUE(ids.empty()) << "the last document is not closed";
  return found;
}

TEST(HeldBack, IsTheShareSpreadOverTheText) {
  constexpr size_t kBytes = 10'000'000;
  int64_t held = 0, blocks = 0;
  for (size_t i = 0; i < kBytes; i += 100) {
    held += held_back(i, kBytes, 0.05);
    blocks += held_back(i, kBytes, 0.05) && !held_back(i + 100, kBytes, 0.05);
  }
  EXPECT_NEAR(double(held) * 100 / kBytes, 0.05, 0.001);
  EXPECT_NEAR(double(blocks), 31, 1);  // 500 kB in blocks of 16 kB
  EXPECT_FALSE(held_back(0, 1000, 0.05));
  EXPECT_TRUE(held_back(999, 1000, 0.05));  // a short text gives its end
}

TEST(TokenFolder, LosesNothing) {
  const TemporaryFolder folder;
  const TokensRequest request = request_for(folder, "out");
  const TokenFolder made = make_token_folder(request);
  EXPECT_EQ(made.vocabulary, kVocabulary);
  EXPECT_EQ(made.train_tokens, TokenFile(request.out + "/train.bin").size());
  EXPECT_EQ(made.validation_tokens, TokenFile(request.out + "/val.bin").size());

  const std::vector<std::string> train = documents(request.out, "train.bin"), held = documents(request.out, "val.bin");
  ASSERT_EQ(train.size(), held.size());  // they alternate: a stretch of training, then a block held back
  std::string text, of_a = read_file(request.inputs[0]), of_b = read_file(request.inputs[1]);
  for (size_t i = 0; i < train.size(); ++i) text += train[i] + held[i];
  EXPECT_EQ(text, of_a + of_b);

  size_t held_of_a = 0, held_of_b = 0;
  for (const std::string& block : held) (of_a.find(block) != of_a.npos ? held_of_a : held_of_b) += block.size();
  EXPECT_NEAR(double(held_of_a) / double(of_a.size()), 0.1, 0.01);
  EXPECT_NEAR(double(held_of_b) / double(of_b.size()), 0.1, 0.01);
}

TEST(TokenFolder, IsReproducibleAndNotMadeTwice) {
  const TemporaryFolder folder;
  const TokensRequest request = request_for(folder, "one"), again = request_for(folder, "two");
  EXPECT_FALSE(make_token_folder(request).reused);
  EXPECT_FALSE(make_token_folder(again).reused);
  for (const char* name : {"/train.bin", "/val.bin", "/tokenizer.model", "/data.json"})
    EXPECT_EQ(read_file(request.out + name), read_file(again.out + name));

  const TokenFolder second = make_token_folder(request);
  EXPECT_TRUE(second.reused);
  EXPECT_EQ(second.train_tokens, TokenFile(request.out + "/train.bin").size());
  folder.write("a.txt", sample_text(2000, 3));
  EXPECT_FALSE(make_token_folder(request).reused);  // other text under the same name
  std::filesystem::remove(request.out + "/val.bin");
  EXPECT_FALSE(make_token_folder(request).reused);
}

TEST(TokenFolder, TakesAGivenModel) {
  const TemporaryFolder folder;
  TokensRequest request = request_for(folder, "one");
  make_token_folder(request);
  const std::string train = read_file(request.out + "/train.bin");
  request.model = request.out + "/tokenizer.model";
  request.out = folder / "two";
  EXPECT_EQ(make_token_folder(request).vocabulary, kVocabulary);
  EXPECT_EQ(read_file(request.out + "/train.bin"), train);
}

TEST(TokenFolder, SaysWhatItWasMadeFrom) {
  const TemporaryFolder folder;
  const TokensRequest request = request_for(folder, "out");
  make_token_folder(request);
  const auto facts = inspect_data(request.out, false);
  EXPECT_EQ(facts["kind"], "tokens");
  EXPECT_EQ(facts["vocabulary"], kVocabulary);
  EXPECT_THAT(facts["begins"].get<std::string>(), testing::StartsWith("0 "));
  EXPECT_EQ(facts["made_from"]["sources"][0]["bytes"], sample_text(2000, 1).size());
  EXPECT_EQ(token_vocabulary(request.out), kVocabulary);
}

TEST(TokenFolder, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  const std::string good = folder.write("good.txt", sample_text(100)), bad = folder.write("bad.txt", "abc\xff"),
                    tiny = folder.write("tiny.txt", "hello\n");
  const auto making = [&](TokensRequest request) {
    request.out = folder / "out";
    return error_of([&] { make_token_folder(request); });
  };
  EXPECT_THAT(making({{good, bad}}), HasSubstr("bad.txt: not UTF-8 at byte 3"));
  EXPECT_THAT(making({{good}}), HasSubstr("Vocabulary size too high (8000)"));
  EXPECT_THAT(making({{good}, "", 20}), HasSubstr("Vocabulary size is smaller"));
  EXPECT_THAT(making({{tiny}, "", 266}), HasSubstr("too short"));
  EXPECT_THAT(making({{good}, "", 300, good}), HasSubstr("give a SentencePiece model"));
  EXPECT_THAT(making({{good}, "", 300, "", 1.0}), HasSubstr("--validation"));
  EXPECT_THAT(making({{}}), HasSubstr("no text"));
  EXPECT_FALSE(std::filesystem::exists(folder / "out/data.json"));
  EXPECT_THAT(error_of([&] { token_vocabulary(folder / "out"); }), HasSubstr("data.json"));
}

TEST(Tokenizer, GivesBackEveryText) {
  const TemporaryFolder folder;
  const TokensRequest request = request_for(folder, "out");
  make_token_folder(request);
  const Tokenizer tokenizer(read_file(request.out + "/tokenizer.model"));
  for (const char* text : {"", " ", "  two  spaces ", "tab\tand\r\n", "unseen: 世界 🙂 \x01", "über"}) {
    std::vector<int> ids;
    tokenizer.encode(text, ids);
    EXPECT_EQ(tokenizer.decode(ids), text);
  }
  EXPECT_THROW(Tokenizer(""), Error);
  EXPECT_THROW(Tokenizer("no model"), Error);
}

TEST(TokenFolder, TakesTextWithoutLines) {
  const TemporaryFolder folder;
  std::string text = sample_text(20000);
  std::replace(text.begin(), text.end(), '\n', ' ');
  const TokenFolder made = make_token_folder({{folder.write("line.txt", text)}, folder / "out", kVocabulary});
  EXPECT_GT(made.validation_tokens, 0);
  std::string read;
  for (const std::string& part : documents(folder / "out", "train.bin")) read += part;
  EXPECT_GT(read.size(), text.size() * 9 / 10);  // but for what is held back, nothing is lost
}

TEST(TokenFolder, ASignalEndsItAndLeavesNothingHalf) {
  const TemporaryFolder folder;
  const TokensRequest request = request_for(folder, "out");
  const ScopedInterruptHandlers handlers;
  std::raise(SIGINT);
  const std::string error = error_of([&] { make_token_folder(request); });
  reset_interrupt();
  EXPECT_THAT(error, HasSubstr("interrupted"));
  EXPECT_TRUE(std::filesystem::is_empty(folder / "out"));
  EXPECT_FALSE(make_token_folder(request).reused);
}

}  // namespace
}  // namespace erg
