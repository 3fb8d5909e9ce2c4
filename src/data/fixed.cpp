// The fixed batch of the check phase and of the PyTorch references: the formula of batches.hpp, nothing else.
#include <string>

#include "core/rng.hpp"
#include "data/batches.hpp"
#include "data/positions.hpp"
#include "data/shape_check.hpp"

namespace erg {
namespace {

class FixedBatches : public Batches {
 public:
  FixedBatches(HostBatch batch, std::string description) : batch_(std::move(batch)), description_(std::move(description)) {}
  const HostBatch& next(Split) override { return batch_; }
  std::string describe() const override { return description_; }
  bool real() const override { return false; }
  DataFacts facts() const override { return {"fixed", {}}; }
  DataPosition position() const override { return single_position(0, 0, 0); }  // every batch is the same
  void seek(const DataPosition& position) override { require_single(position, 0); }

 private:
  HostBatch batch_;
  std::string description_;
};

}  // namespace

std::unique_ptr<Batches> fixed_tokens(const TextShape& shape, uint64_t seed) {
  check(shape);
  HostBatch batch;
  const int64_t row = shape.sequence + 1;
  for (int64_t b = 0; b < shape.batch; ++b) {
    for (int64_t s = 0; s < row; ++s) {
      const auto token = int32_t(random_bits(seed, 1000, uint64_t(b * row + s)) % uint64_t(shape.vocabulary));
      if (s < shape.sequence) batch.tokens.push_back(token);
      if (s > 0) batch.targets.push_back(token);
    }
  }
  return std::make_unique<FixedBatches>(std::move(batch), "fixed tokens, seed " + std::to_string(seed));
}

std::unique_ptr<Batches> fixed_images(const ImageShape& shape, uint64_t seed) {
  check(shape);
  HostBatch batch;
  batch.pixels.resize(size_t(shape.batch * 3 * shape.size * shape.size));  // [batch, 3, size, size]
  for (size_t i = 0; i < batch.pixels.size(); ++i) batch.pixels[i] = 2.0f * random_uniform(seed, 1001, i) - 1.0f;
  for (int64_t n = 0; n < shape.batch; ++n)
    batch.targets.push_back(int32_t(random_bits(seed, 1002, uint64_t(n)) % uint64_t(shape.classes)));
  return std::make_unique<FixedBatches>(std::move(batch), "fixed images, seed " + std::to_string(seed));
}

}  // namespace erg
