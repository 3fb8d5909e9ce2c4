// A decoded part of a photo to a network's input: antialiased bilinear resize, normalised, as planes.
#pragma once
#include <vector>

#include "data/crop.hpp"
#include "data/jpeg.hpp"

namespace erg {

// Per channel of ImageNet, on [0, 1]: red, green, blue.
inline constexpr float kImageMean[3] = {0.485f, 0.456f, 0.406f}, kImageStd[3] = {0.229f, 0.224f, 0.225f};

// The triangle filter along one axis: output i is the sum over t of weight(i, t) · input(first[i] + t).
struct ResizeTaps {
  int taps = 0;  // the same for all outputs, padded with zero weights
  std::vector<int> first;
  std::vector<float> weights;  // [outputs, taps]

  // The interval [begin, begin + length) of the input becomes `outputs` samples; only inputs in [low, high) exist. As in Pillow, the
  // filter is widened by the factor of reduction, so that nothing aliases.
  void fill(double begin, double length, int low, int high, int outputs);
};

// Used again and again by one thread; keeps its buffers.
class Resizer {
 public:
  // out [3, size, size] = (resized box / 255 - mean) / std, mirrored left to right when `flip`. The box is given in the part's pixels.
  void run(const DecodedPart& part, const Box& box, int size, bool flip, float* out);

 private:
  ResizeTaps across_, down_;
  std::vector<float> row_;  // [part width, 4]
};

}  // namespace erg
