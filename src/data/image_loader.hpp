// From a JPEG file to a network's input: read, decode the part that is needed, resize, normalise.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/jpeg.hpp"
#include "data/resize.hpp"

namespace erg {

// Used again and again by one thread; keeps its buffers.
class ImageLoader {
 public:
  // out [3, size, size]: a crop and flip that `key` decides when `augment`, else the central crop. Throws Error(usage) naming the file.
  void load(const std::string& path, bool augment, uint64_t key, int size, float* out);
  // The same of a file's content.
  void load(std::span<const uint8_t> file, const std::string& name, bool augment, uint64_t key, int size, float* out);

 private:
  std::vector<uint8_t> file_;
  JpegDecoder decoder_;
  Resizer resizer_;
};

}  // namespace erg
