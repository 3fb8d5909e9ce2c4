// The two crops of ImageNet training.
#include "data/crop.hpp"

#include <algorithm>
#include <cmath>

#include "core/rng.hpp"

namespace erg {

Box random_resized_crop(int width, int height, uint64_t key) {
  constexpr double kSmallest = 0.08, kLowest = 3.0 / 4, kHighest = 4.0 / 3;
  uint64_t draws = 0;
  const auto uniform = [&] { return double(random_uniform(key, 0, draws++)); };
  const double area = double(width) * height;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double target = area * (kSmallest + (1 - kSmallest) * uniform());
    const double aspect = std::exp(std::log(kLowest) + (std::log(kHighest) - std::log(kLowest)) * uniform());
    const double w = std::round(std::sqrt(target * aspect)), h = std::round(std::sqrt(target / aspect));
    const double x = uniform(), y = uniform();
    if (w >= 1 && h >= 1 && w <= width && h <= height) return {std::floor(x * (width - w + 1)), std::floor(y * (height - h + 1)), w, h};
  }
  const double w = std::min(double(width), std::max(1.0, std::round(height * kHighest)));
  const double h = std::min(double(height), std::max(1.0, std::round(width / kLowest)));
  return {std::floor((width - w) / 2), std::floor((height - h) / 2), w, h};
}

Box central_crop(int width, int height) {
  const double side = std::min(width, height) * 224.0 / 256.0;
  return {(width - side) / 2, (height - side) / 2, side, side};
}

}  // namespace erg
