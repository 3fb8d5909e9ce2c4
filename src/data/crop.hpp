// Which part of a photo a training or validation image is.
#pragma once
#include <cstdint>

namespace erg {

struct Box {
  double x, y, width, height;
};  // in source pixels

// Inception's crop (Szegedy et al. 2015) as torchvision's RandomResizedCrop does it: 8 to 100 % of the area, aspect 3:4 to 4:3, whole
// pixels; after ten misses the largest central part of allowed aspect. Decided by `key`.
Box random_resized_crop(int width, int height, uint64_t key);

// The central square that remains when the shorter side becomes size · 256 / 224 pixels and size x size of them are kept.
Box central_crop(int width, int height);

}  // namespace erg
