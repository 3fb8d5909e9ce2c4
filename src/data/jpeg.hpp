// JPEG in and out through libjpeg-turbo: a part of an image decoded at a whole, half, quarter or eighth of its size, and a plain encoder.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace erg {

struct PixelRect {
  int x, y, width, height;
};

// Pixels of a decoded part, 4 bytes each: red, green, blue, unused. `at` says where in the (scaled) image it lies.
struct DecodedPart {
  PixelRect at;
  const uint8_t* pixels;
  size_t stride;  // bytes from row to row

  const uint8_t* pixel(int x, int y) const { return pixels + size_t(y - at.y) * stride + size_t(x - at.x) * 4; }
};

// Used again and again by one thread. Grey and CMYK (with Adobe's inverted values, as Pillow reads it) become RGB; orientation tags and
// colour profiles are ignored, as torchvision does. Data that is damaged or missing is an error, where libjpeg would go on with grey; so
// are 12 bits a sample and, so that memory and time are bounded, more than 178 956 970 pixels (Pillow's limit) or 100 scans. Every method
// throws Error(usage) naming the file.
class JpegDecoder {
 public:
  JpegDecoder();
  ~JpegDecoder();

  // Reads the header; `bytes` must live until decode() is done.
  void open(std::span<const uint8_t> bytes, const std::string& name);
  int width() const;
  int height() const;

  // Decodes at 1 / denominator (1, 2, 4, 8) of the size the smallest part that covers `rect`, given in pixels of the full image.
  // Valid until the next open(). Call once after each open().
  DecodedPart decode(PixelRect rect, int denominator);

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::vector<uint8_t> pixels_;
};

// rgb [height, width, 3] as JPEG with 4:2:0 chroma.
std::string encode_jpeg(std::span<const uint8_t> rgb, int width, int height, int quality);

}  // namespace erg
