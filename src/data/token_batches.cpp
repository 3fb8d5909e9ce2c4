// Training batches from a token folder. An epoch cuts the text into windows that touch, at an offset of its own, and visits them in a
// shuffled order: every token is a target once an epoch, but for less than a window at either end. Validation reads from front to back.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/rng.hpp"
#include "data/batches.hpp"
#include "data/shape_check.hpp"
#include "data/shuffle.hpp"
#include "data/token_file.hpp"

namespace erg {
namespace {

constexpr uint64_t kOffsetStream = 4000, kOrderStream = 4001;  // by epoch

class TokenBatches : public Batches {
 public:
  TokenBatches(const std::string& folder, const TextShape& shape, uint64_t seed)
      : folder_(folder),
        shape_(shape),
        seed_(seed),
        vocabulary_(token_vocabulary(folder)),
        files_{TokenFile(file("train.bin")), TokenFile(file("val.bin"))} {
    check(shape);
    if (vocabulary_ > shape.vocabulary)
      throw Error(ErrorKind::usage, fmt::format("the tokenizer has {} tokens, the model only {}", vocabulary_, shape.vocabulary), folder,
                  fmt::format("set the vocabulary to {} or more", vocabulary_));
    for (int split = 0; split < 2; ++split) {
      if (windows(split, 0) < 1)
        throw Error(ErrorKind::usage, fmt::format("{} tokens are too few for a sequence of {}", files_[split].size(), shape.sequence),
                    files_[split].path(), "use a shorter sequence or more text");
      batches_[split].tokens.resize(size_t(shape.batch * shape.sequence));
      batches_[split].targets.resize(batches_[split].tokens.size());
    }
  }

  const HostBatch& next(Split split) override {
    HostBatch& batch = batches_[int(split)];
    for (int64_t b = 0; b < shape_.batch; ++b) {
      const int64_t begin = split == Split::train ? next_train_window() : next_validation_window();
      int32_t* tokens = &batch.tokens[size_t(b * shape_.sequence)];
      int32_t* targets = &batch.targets[size_t(b * shape_.sequence)];
      tokens[0] = token(int(split), begin);
      for (int64_t s = 1; s < shape_.sequence; ++s) tokens[s] = targets[s - 1] = token(int(split), begin + s);
      targets[shape_.sequence - 1] = token(int(split), begin + shape_.sequence);
    }
    return batch;
  }

  std::string describe() const override { return fmt::format("{} tokens of {}, vocabulary {}", files_[0].size(), folder_, vocabulary_); }
  bool real() const override { return true; }

 private:
  std::string file(const char* name) const { return (std::filesystem::path(folder_) / name).string(); }

  // Windows of sequence + 1 tokens, each beginning with the last token of the one before.
  int64_t windows(int split, int64_t offset) const { return (files_[split].size() - 1 - offset) / shape_.sequence; }

  int64_t next_train_window() {
    if (window_ == epoch_windows_) {
      ++epoch_;
      window_ = 0;
      // No offset may cost a short text its only window.
      const uint64_t room = uint64_t(std::min(shape_.sequence, files_[0].size() - shape_.sequence));
      offset_ = int64_t(random_bits(seed_, kOffsetStream, uint64_t(epoch_)) % room);
      epoch_windows_ = windows(0, offset_);
    }
    return offset_ + shape_.sequence * shuffled(window_++, epoch_windows_, random_bits(seed_, kOrderStream, uint64_t(epoch_)));
  }

  int64_t next_validation_window() { return shape_.sequence * (validation_window_++ % windows(1, 0)); }

  int32_t token(int split, int64_t position) const {
    const int32_t id = files_[split][position];
    if (id < 0 || id >= vocabulary_)
      throw Error(ErrorKind::usage, fmt::format("token {} at position {} is outside the vocabulary of {}", id, position, vocabulary_),
                  files_[split].path(), "make the folder again with `ergometer data tokens`");
    return id;
  }

  std::string folder_;
  TextShape shape_;
  uint64_t seed_;
  int64_t vocabulary_;
  TokenFile files_[2];
  HostBatch batches_[2];
  int64_t epoch_ = -1, offset_ = 0, window_ = 0, epoch_windows_ = 0, validation_window_ = 0;
};

}  // namespace

std::unique_ptr<Batches> token_files(const std::string& folder, const TextShape& shape, uint64_t seed) {
  return std::make_unique<TokenBatches>(folder, shape, seed);
}

int64_t token_vocabulary(const std::string& folder) {
  const auto path = std::filesystem::path(folder) / "data.json";
  const auto data = nlohmann::json::parse(read_file(path), nullptr, false);
  if (!data.is_object() || !data.contains("vocabulary") || !data["vocabulary"].is_number_integer())
    throw Error(ErrorKind::usage, "does not name a vocabulary", path.string(), "make the folder again with `ergometer data tokens`");
  return data["vocabulary"];
}

}  // namespace erg
