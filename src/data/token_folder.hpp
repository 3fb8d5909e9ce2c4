// `ergometer data tokens`: text in, a folder out that `token_files` trains from. data.json comes last and says what the rest is.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace erg {

struct TokensRequest {
  std::vector<std::string> inputs;  // UTF-8 text files, plain or gzip; one document each
  std::string out{};                // folder, made when missing
  int64_t vocabulary = 8000;        // of the tokenizer that is trained
  std::string model{};              // or a SentencePiece model to use
  double validation = 0.05;         // share of the text held back
};

struct TokenFolder {
  int64_t vocabulary = 0, train_tokens = 0, validation_tokens = 0;
  bool reused = false;  // the folder already held the same data
};

// Writes train.bin, val.bin, tokenizer.model, data.json. Deterministic. Does nothing when data.json says that the folder was made from the
// same text in the same way. Holds one input at a time in memory. Throws Error(usage) on bad input, Error(failed) when it cannot write.
TokenFolder make_token_folder(const TokensRequest& request, const std::function<void(const std::string&)>& progress = {});

// Whether the line that begins at `offset` of a text of `bytes` is held back. Blocks of about 16 kB spread evenly over the text are:
// every document and language is in both splits, and validation text has context of its own.
bool held_back(size_t offset, size_t bytes, double share);

}  // namespace erg
