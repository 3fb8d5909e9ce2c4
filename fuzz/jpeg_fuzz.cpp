// A JPEG as training and validation read it. The first byte chooses the crop.
#include <cmath>
#include <vector>

#include "data/image_loader.hpp"
#include "input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace erg;
  if (size == 0) return 0;
  static ImageLoader loader;
  static JpegDecoder header;
  static std::vector<float> out(3 * 32 * 32);
  const std::span<const uint8_t> file(data + 1, size - 1);
  // Large images are slow here and find nothing more; that they are refused or bounded is tested in hostile_images_test.cpp.
  if (!succeeds([&] { header.open(file, "input"); }) || int64_t(header.width()) * header.height() > 1 << 18) return 0;
  for (const bool augment : {true, false})
    if (succeeds([&] { loader.load(file, "input", augment, data[0], 32, out.data()); }))
      for (const float value : out) promise(std::abs(value) < 3);  // (0 or 1 - mean) / deviation is at most 2.64
  return 0;
}
