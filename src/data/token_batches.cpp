// Training batches from token files. An epoch of a source cuts its text into windows that touch, at an offset of its own, and visits them
// in a shuffled order: every token is a target once an epoch, but for less than a window at either end. Validation reads front to back.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/rng.hpp"
#include "data/batches.hpp"
#include "data/blend.hpp"
#include "data/positions.hpp"
#include "data/shape_check.hpp"
#include "data/shuffle.hpp"
#include "data/token_source.hpp"

namespace erg {
namespace {

constexpr uint64_t kOffsetStream = 4000, kOrderStream = 4001;  // by epoch

// The endless windows of one source. Each has sequence + 1 tokens and begins with the last token of the one before.
class Windows {
 public:
  Windows(const std::string& place, const TextShape& shape, uint64_t seed)
      : source_(place, shape.sequence), sequence_(shape.sequence), seed_(seed) {
    if (source_.vocabulary() > shape.vocabulary)
      throw Error(ErrorKind::usage, fmt::format("the tokenizer has {} tokens, the model only {}", *source_.vocabulary(), shape.vocabulary),
                  place, fmt::format("set the vocabulary to {} or more", *source_.vocabulary()));
    vocabulary_ = source_.vocabulary().value_or(shape.vocabulary);
    begin_epoch(0);
  }

  const TokenSource& source() const { return source_; }
  const SourcePosition& position() const { return at_; }

  // Counted only when it was read: an error loses no sample.
  void next(Split split, std::span<int32_t> window) {
    if (split == Split::validation) {
      source_.read(split, sequence_ * (at_.validation % count(split, 0)), window, vocabulary_);
      ++at_.validation;
      return;
    }
    if (at_.index == windows_) begin_epoch(at_.epoch + 1);
    const uint64_t order = random_bits(seed_, kOrderStream, uint64_t(at_.epoch));
    source_.read(split, offset_ + sequence_ * shuffled(at_.index, windows_, order), window, vocabulary_);
    ++at_.index;
    ++at_.samples;
  }

  void require(const SourcePosition& position) const {
    const int64_t windows = count(Split::train, offset(position.epoch));
    if (position.index > windows)
      throw Error(ErrorKind::usage, fmt::format("has {} windows in epoch {}, no window {}", windows, position.epoch, position.index),
                  source_.place(), "the position was made with other files or another sequence");
  }

  void seek(const SourcePosition& position) {
    begin_epoch(position.epoch);
    at_ = position;
  }

 private:
  int64_t count(Split split, int64_t offset) const { return (source_.size(split) - 1 - offset) / sequence_; }

  int64_t offset(int64_t epoch) const {
    // No offset may cost a short text its only window.
    const uint64_t room = uint64_t(std::min(sequence_, source_.size(Split::train) - sequence_));
    return int64_t(random_bits(seed_, kOffsetStream, uint64_t(epoch)) % room);
  }

  void begin_epoch(int64_t epoch) {
    at_.epoch = epoch;
    at_.index = 0;
    offset_ = offset(epoch);
    windows_ = count(Split::train, offset_);
  }

  TokenSource source_;
  int64_t sequence_, vocabulary_ = 0;
  uint64_t seed_;
  SourcePosition at_;
  int64_t offset_ = 0, windows_ = 0;  // of this epoch
};

class TokenBatches : public Batches {
 public:
  TokenBatches(const std::string& data, const TextShape& shape, uint64_t seed)
      : shape_(shape), blends_{Blend({}), Blend({})}, window_(size_t(shape.sequence) + 1) {
    check(shape);
    std::vector<double> weights;
    for (const auto& [weight, place] : parse_blend(data)) {
      sources_.emplace_back(place, shape, seed ^ mix64(sources_.size()));  // mix64(0) is 0
      weights.push_back(weight);
    }
    for (int split = 0; split < 2; ++split) {
      blends_[split] = Blend(weights);
      given_[split].resize(weights.size());
      batches_[split].tokens.resize(size_t(shape.batch * shape.sequence));
      batches_[split].targets.resize(batches_[split].tokens.size());
    }
  }

  const HostBatch& next(Split split) override {
    HostBatch& batch = batches_[int(split)];
    std::vector<int64_t>& given = given_[int(split)];
    for (int64_t b = 0; b < shape_.batch; ++b) {
      const size_t source = blends_[int(split)].choose(given);
      sources_[source].next(split, window_);
      ++given[source];
      std::copy_n(window_.begin(), shape_.sequence, &batch.tokens[size_t(b * shape_.sequence)]);
      std::copy_n(window_.begin() + 1, shape_.sequence, &batch.targets[size_t(b * shape_.sequence)]);
    }
    return batch;
  }

  std::string describe() const override {
    std::string places;
    for (const Windows& w : sources_) places += (places.empty() ? "" : ", ") + w.source().place();
    return fmt::format("{} tokens of {}, vocabulary {}", facts().train, places, shape_.vocabulary);
  }
  bool real() const override { return true; }

  DataFacts facts() const override {
    DataFacts facts{"tokens", {}};
    for (const Windows& w : sources_) {
      for (std::string& file : w.source().files()) facts.files.push_back(std::move(file));
      facts.train += w.source().size(Split::train);
      facts.validation += w.source().size(Split::validation);
    }
    return facts;
  }

  DataPosition position() const override {
    DataPosition position;
    for (const Windows& w : sources_) position.push_back(w.position());
    return position;
  }

  void seek(const DataPosition& position) override {
    require_sources(position, sources_.size());
    for (size_t i = 0; i < sources_.size(); ++i) sources_[i].require(position[i]);  // all or none
    for (size_t i = 0; i < sources_.size(); ++i) {
      sources_[i].seek(position[i]);
      given_[int(Split::train)][i] = position[i].samples;
      given_[int(Split::validation)][i] = position[i].validation;
    }
  }

 private:
  TextShape shape_;
  std::vector<Windows> sources_;
  Blend blends_[2];
  std::vector<int64_t> given_[2];  // samples by source
  HostBatch batches_[2];
  std::vector<int32_t> window_;
};

}  // namespace

std::unique_ptr<Batches> token_files(const std::string& data, const TextShape& shape, uint64_t seed) {
  return std::make_unique<TokenBatches>(data, shape, seed);
}

int64_t token_vocabulary(const std::string& folder) {
  const auto path = std::filesystem::path(folder) / "data.json";
  const auto data = nlohmann::json::parse(read_file(path), nullptr, false);
  if (!data.is_object() || !data.contains("vocabulary") || !data["vocabulary"].is_number_integer())
    throw Error(ErrorKind::usage, "does not name a vocabulary", path.string(),
                "make the folder again with `ergometer data tokens`; other token files are named by a glob, such as DIR/*.bin");
  return data["vocabulary"];
}

}  // namespace erg
