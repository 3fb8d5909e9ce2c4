// Synthetic images (METHOD §2): the pattern of the class at a random phase, plus noise, normalised to mean 0 and variance about 1.
#include "core/rng.hpp"
#include "data/batches.hpp"
#include "data/class_pattern.hpp"
#include "data/positions.hpp"
#include "data/shape_check.hpp"
#include "data/skew.hpp"

namespace erg {
namespace {

constexpr uint64_t kImageStream = 3000;  // + split: validation never repeats training's random numbers

class SyntheticImages : public Batches {
 public:
  SyntheticImages(const ImageShape& shape, uint64_t seed) : shape_(shape), seed_(seed) {
    check(shape);
    for (HostBatch& batch : batches_) {
      batch.targets.resize(size_t(shape.batch));
      batch.pixels.resize(size_t(shape.batch * 3 * shape.size * shape.size));
    }
  }

  const HostBatch& next(Split split) override {
    HostBatch& batch = batches_[int(split)];
    for (int64_t b = 0; b < shape_.batch; ++b) {
      const uint64_t bits = random_bits(seed_, kImageStream + uint64_t(split), images_[int(split)]++);
      batch.targets[size_t(b)] = int32_t(skewed(bits, shape_.classes));
      draw(batch.targets[size_t(b)], mix64(bits), &batch.pixels[size_t(b * 3 * shape_.size * shape_.size)]);
    }
    return batch;
  }

  std::string describe() const override { return "synthetic class patterns, seed " + std::to_string(seed_); }
  bool real() const override { return false; }
  DataFacts facts() const override { return {"synthetic", {}}; }
  DataPosition position() const override { return single_position(int64_t(images_[0]), int64_t(images_[1]), 0); }
  void seek(const DataPosition& position) override {
    const SourcePosition at = require_single(position, 0);
    images_[int(Split::train)] = uint64_t(at.samples);
    images_[int(Split::validation)] = uint64_t(at.validation);
  }

 private:
  // pixels [3, size, size] = colour + 0.8 wave + noise in [-1, 1).
  void draw(int64_t label, uint64_t key, float* pixels) {
    const ClassPattern pattern(label);
    const float shift = 2 * std::numbers::pi_v<float> * float(key >> 40) * 0x1p-24f;
    y_.fill(shape_.size, pattern.waves_y, 0);
    uint64_t counter = key;
    for (int c = 0; c < 3; ++c) {
      x_.fill(shape_.size, pattern.waves_x, pattern.phase[c] + shift);
      for (int64_t y = 0; y < shape_.size; ++y, pixels += shape_.size) {
        const float cosine = 0.8f * y_.cosine[size_t(y)], sine = 0.8f * y_.sine[size_t(y)];
        for (int64_t x = 0; x < shape_.size; x += 4) {
          uint64_t noise = mix64(++counter);  // 16 bits a pixel
          for (int64_t i = x; i < std::min(x + 4, shape_.size); ++i, noise >>= 16)
            pixels[i] = pattern.colour[c] + x_.sine[size_t(i)] * cosine + x_.cosine[size_t(i)] * sine +
                        (float(int32_t(noise & 0xffff)) * 0x1p-15f - 1.0f);
        }
      }
    }
  }

  ImageShape shape_;
  uint64_t seed_;
  HostBatch batches_[2];
  uint64_t images_[2] = {0, 0};
  AxisWave x_, y_;
};

}  // namespace

std::unique_ptr<Batches> synthetic_images(const ImageShape& shape, uint64_t seed) { return std::make_unique<SyntheticImages>(shape, seed); }

}  // namespace erg
