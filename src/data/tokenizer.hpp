// SentencePiece behind one small class: train a vocabulary, text to token ids and back. Its heavy headers stay in tokenizer.cpp.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace erg {

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view model);  // the content of a SentencePiece model file; throws Error(usage)
  ~Tokenizer();
  Tokenizer(Tokenizer&&) noexcept;

  int64_t vocabulary() const;
  std::optional<int> end_of_text() const;  // id of </s>, put after each document
  void encode(std::string_view text, std::vector<int>& ids) const;
  std::string decode(const std::vector<int>& ids) const;

 private:
  std::unique_ptr<sentencepiece::SentencePieceProcessor> processor_;
};

// How vocabularies are trained: byte-pair encoding (Sennrich et al. 2016), the fastest of SentencePiece's and the same result every time.
// Text is not normalised, runs of spaces are pieces and unknown characters fall back to bytes: decode(encode(text)) == text.
using TokenizerParameters = std::vector<std::pair<std::string, std::string>>;
TokenizerParameters tokenizer_parameters(int64_t vocabulary);

// Calls `next` for one sentence after the other until it gives nothing; returns the model file's content. Throws Error(usage) when the
// text cannot fill that vocabulary.
std::string train_tokenizer(const TokenizerParameters& parameters, const std::function<std::optional<std::string>()>& next);

}  // namespace erg
