// SentencePiece's calls and its Status turned into Error.
#include "data/tokenizer.hpp"

#include <fmt/format.h>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <unordered_map>

#include "core/error.hpp"

namespace erg {
namespace {

void require(const sentencepiece::util::Status& status, const std::string& fix) {
  if (status.ok()) return;
  std::string message = status.message();  // "./src/FILE.cc(LINE) [CONDITION] what a person can use", which may be nothing
  if (const size_t end = message.find("] "); end != message.npos && end + 2 < message.size()) message.erase(0, end + 2);
  throw Error(ErrorKind::usage, "SentencePiece says: " + message, "tokenizer", fix);
}

class Sentences : public sentencepiece::SentenceIterator {
 public:
  explicit Sentences(const std::function<std::optional<std::string>()>& next) : next_(next), current_(next()) {}
  bool done() const override { return !current_; }
  void Next() override { current_ = next_(); }
  const std::string& value() const override { return *current_; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const std::function<std::optional<std::string>()>& next_;
  std::optional<std::string> current_;
};

}  // namespace

Tokenizer::Tokenizer(std::string_view model) : processor_(std::make_unique<sentencepiece::SentencePieceProcessor>()) {
  const char* fix = "give a SentencePiece model file";
  if (model.empty()) throw Error(ErrorKind::usage, "the model is empty", "tokenizer", fix);
  require(processor_->LoadFromSerializedProto(model), fix);
}
Tokenizer::~Tokenizer() = default;
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;

int64_t Tokenizer::vocabulary() const { return processor_->GetPieceSize(); }

std::optional<int> Tokenizer::end_of_text() const {
  const int id = processor_->eos_id();
  return id >= 0 ? std::optional(id) : std::nullopt;
}

void Tokenizer::encode(std::string_view text, std::vector<int>& ids) const { require(processor_->Encode(text, &ids), ""); }

std::string Tokenizer::decode(const std::vector<int>& ids) const {
  std::string text;
  require(processor_->Decode(ids, &text), "");
  return text;
}

TokenizerParameters tokenizer_parameters(int64_t vocabulary) {
  return {{"model_type", "bpe"},
          {"vocab_size", std::to_string(vocabulary)},
          {"byte_fallback", "true"},
          {"character_coverage", "0.9999"},
          {"normalization_rule_name", "identity"},
          {"remove_extra_whitespaces", "false"},
          {"add_dummy_prefix", "false"},
          {"allow_whitespace_only_pieces", "true"}};
}

std::string train_tokenizer(const TokenizerParameters& parameters, const std::function<std::optional<std::string>()>& next) {
  std::unordered_map<std::string, std::string> arguments(parameters.begin(), parameters.end());
  arguments.emplace("minloglevel", "2");  // errors come back as Status
  Sentences sentences(next);
  std::string model;
  require(sentencepiece::SentencePieceTrainer::Train(arguments, &sentences, &model), "give a smaller --vocabulary or more text");
  return model;
}

}  // namespace erg
