// What an image of a class looks like in synthetic data: a colour and a plane wave of low frequency, both by a formula of the class.
#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "core/rng.hpp"

namespace erg {

struct ClassPattern {
  float colour[3];         // [-1, 1) by channel
  float phase[3];          // radians by channel, 0 to 2 pi
  float waves_x, waves_y;  // periods over the image, -4 to 4

  explicit ClassPattern(int64_t label) {
    constexpr uint64_t kStream = 3010;
    auto draw = [index = uint64_t(label) * 8]() mutable { return random_uniform(0, kStream, index++); };
    for (float& c : colour) c = 2 * draw() - 1;
    for (float& p : phase) p = 2 * std::numbers::pi_v<float> * draw();
    waves_x = std::floor(9 * draw()) - 4;
    waves_y = std::floor(9 * draw()) - 4;
  }
};

// sin and cos of a wave along one axis, so that a pixel of the plane wave costs two multiplications:
// sin(x + y) = sin x cos y + cos x sin y.
struct AxisWave {
  std::vector<float> sine, cosine;

  void fill(int64_t length, float waves, float phase) {
    sine.resize(size_t(length));
    cosine.resize(size_t(length));
    for (int64_t i = 0; i < length; ++i) {
      const float angle = 2 * std::numbers::pi_v<float> * waves * float(i) / float(length) + phase;
      sine[size_t(i)] = std::sin(angle);
      cosine[size_t(i)] = std::cos(angle);
    }
  }
};

}  // namespace erg
