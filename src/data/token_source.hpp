// What `workload.data` names for GPT: one source of tokens or a weighted blend of several, each with a part to train on and one held back.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "data/batches.hpp"
#include "data/token_text.hpp"

namespace erg {

struct WeightedPlace {
  double weight;  // sums to 1 over the places
  std::string place;
};

// "PLACE", or Megatron's --data-path form "WEIGHT PLACE WEIGHT PLACE …" between blanks. A single existing path may hold blanks itself.
// Throws Error(usage).
std::vector<WeightedPlace> parse_blend(const std::string& data);

// The token files a place stands for: a file, a Megatron prefix (with or without .bin or .idx), or a glob of either; sorted by bytes.
// Throws Error(usage) when there are none.
std::vector<std::string> token_files_at(const std::string& place);

// Of `windows` windows, how many at the end are held back where a source has no validation file of its own: 1 %, at least one.
constexpr int64_t held_back_windows(int64_t windows) { return windows / 100 > 1 ? windows / 100 : 1; }

class TokenSource {
 public:
  // A folder made by `ergometer data tokens`, or what token_files_at() takes. Throws Error(usage); also when a part is shorter than
  // `sequence` + 1 tokens.
  TokenSource(const std::string& place, int64_t sequence);

  const std::string& place() const { return place_; }
  std::optional<int64_t> vocabulary() const { return vocabulary_; }  // of the tokenizer, where a folder names it
  std::vector<std::string> files() const;
  int64_t size(Split split) const { return parts_[int(split)].size; }
  void read(Split split, int64_t begin, std::span<int32_t> out, int64_t vocabulary) const;

 private:
  struct Part {
    size_t text;  // which of texts_
    int64_t begin, size;
  };
  std::string place_;
  std::optional<int64_t> vocabulary_;
  std::vector<TokenText> texts_;  // train and validation, or one for both
  Part parts_[2];
};

}  // namespace erg
