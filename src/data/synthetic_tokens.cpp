// Synthetic text: a Markov chain over tokens (METHOD §2). Three times of four the next token is a fixed function of the previous one, else
// it is drawn anew from a skewed distribution. A model first learns which tokens are frequent, then which follows which.
#include "core/rng.hpp"
#include "data/batches.hpp"
#include "data/positions.hpp"
#include "data/shape_check.hpp"
#include "data/skew.hpp"

namespace erg {
namespace {

constexpr uint64_t kTextStream = 2000;  // + split: validation never repeats training's random numbers
constexpr uint64_t kSuccessorStream = 2010;

class SyntheticTokens : public Batches {
 public:
  SyntheticTokens(const TextShape& shape, uint64_t seed) : shape_(shape), seed_(seed) {
    check(shape);
    for (HostBatch& batch : batches_) {
      batch.tokens.resize(size_t(shape.batch * shape.sequence));
      batch.targets.resize(batch.tokens.size());
    }
  }

  const HostBatch& next(Split split) override {
    HostBatch& batch = batches_[int(split)];
    const uint64_t stream = kTextStream + uint64_t(split);
    for (int64_t b = 0; b < shape_.batch; ++b) {
      uint64_t position = uint64_t(rows_[int(split)]++) * uint64_t(shape_.sequence + 1);  // each row draws sequence + 1 numbers
      int64_t token = skewed(random_bits(seed_, stream, position++), shape_.vocabulary);
      int32_t* tokens = &batch.tokens[size_t(b * shape_.sequence)];
      int32_t* targets = &batch.targets[size_t(b * shape_.sequence)];
      for (int64_t s = 0; s < shape_.sequence; ++s) {
        tokens[s] = int32_t(token);
        const uint64_t bits = random_bits(seed_, stream, position++);
        token = mix64(bits) % 4 == 0 ? skewed(bits, shape_.vocabulary) : successor(token);
        targets[s] = int32_t(token);
      }
    }
    return batch;
  }

  std::string describe() const override { return "synthetic Markov tokens, seed " + std::to_string(seed_); }
  bool real() const override { return false; }
  DataFacts facts() const override { return {"synthetic", {}}; }
  DataPosition position() const override { return single_position(rows_[0], rows_[1], 0); }
  void seek(const DataPosition& position) override {
    const SourcePosition at = require_single(position, 0);
    rows_[int(Split::train)] = at.samples;
    rows_[int(Split::validation)] = at.validation;
  }

 private:
  // A rotation inside the token's octave: one to one, so that the chain keeps the skewed distribution.
  int64_t successor(int64_t token) const {
    const Octave octave = octave_of(token, shape_.vocabulary);
    const uint64_t turn = random_bits(seed_, kSuccessorStream, uint64_t(octave.first));
    return octave.first + int64_t((uint64_t(token - octave.first) + turn % uint64_t(octave.size)) % uint64_t(octave.size));
  }

  TextShape shape_;
  uint64_t seed_;
  HostBatch batches_[2];
  int64_t rows_[2] = {0, 0};  // made so far, by split
};

}  // namespace

std::unique_ptr<Batches> synthetic_tokens(const TextShape& shape, uint64_t seed) { return std::make_unique<SyntheticTokens>(shape, seed); }

}  // namespace erg
