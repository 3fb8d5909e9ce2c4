// Rows are combined first, along contiguous memory, then columns, four channels (the fourth unused) at a time: both loops vectorise.
#include "data/resize.hpp"

#include <algorithm>
#include <cmath>

namespace erg {

void ResizeTaps::fill(double begin, double length, int low, int high, int outputs) {
  const double scale = length / outputs, reach = std::max(scale, 1.0);
  taps = std::min(int(std::ceil(2 * reach)) + 1, high - low);
  first.resize(size_t(outputs));
  weights.assign(size_t(outputs) * size_t(taps), 0.0f);
  for (int i = 0; i < outputs; ++i) {
    const double centre = begin + (i + 0.5) * scale;
    const int from = std::clamp(int(std::floor(centre - reach + 0.5)), low, high - taps);
    first[size_t(i)] = from;
    float* w = &weights[size_t(i) * size_t(taps)];
    double sum = 0;
    for (int t = 0; t < taps; ++t) sum += std::max(0.0, 1 - std::abs(from + t + 0.5 - centre) / reach);
    for (int t = 0; t < taps; ++t) w[t] = float(std::max(0.0, 1 - std::abs(from + t + 0.5 - centre) / reach) / sum);
  }
}

void Resizer::run(const DecodedPart& part, const Box& box, int size, bool flip, float* out) {
  const PixelRect& at = part.at;
  // Only pixels that the box touches take part: it is cropped first, then resized.
  const int left = std::max(at.x, int(std::floor(box.x))), right = std::min(at.x + at.width, int(std::ceil(box.x + box.width)));
  const int top = std::max(at.y, int(std::floor(box.y))), bottom = std::min(at.y + at.height, int(std::ceil(box.y + box.height)));
  across_.fill(box.x, box.width, left, right, size);
  down_.fill(box.y, box.height, top, bottom, size);
  row_.resize(size_t(right - left) * 4);

  const size_t plane = size_t(size) * size_t(size);
  for (int y = 0; y < size; ++y) {
    std::fill(row_.begin(), row_.end(), 0.0f);
    for (int t = 0; t < down_.taps; ++t) {
      const float weight = down_.weights[size_t(y * down_.taps + t)];
      if (weight == 0) continue;
      const uint8_t* source = part.pixel(left, down_.first[size_t(y)] + t);
      for (size_t i = 0; i < row_.size(); ++i) row_[i] += weight * float(source[i]);
    }
    for (int x = 0; x < size; ++x) {
      const float* source = &row_[size_t(across_.first[size_t(x)] - left) * 4];
      const float* weights = &across_.weights[size_t(x * across_.taps)];
      float sum[4] = {0, 0, 0, 0};
      for (int t = 0; t < across_.taps; ++t)
        for (int c = 0; c < 4; ++c) sum[c] += weights[t] * source[t * 4 + c];
      float* to = out + y * size + (flip ? size - 1 - x : x);
      for (size_t c = 0; c < 3; ++c) to[c * plane] = (sum[c] * (1.0f / 255) - kImageMean[c]) * (1 / kImageStd[c]);
    }
  }
}

}  // namespace erg
