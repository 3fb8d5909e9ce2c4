// An image tensor as it lies: channels in blocks of 16, 8 or 1, a plane of pixels for each image and block.
#pragma once
#include <cstdint>

#include "core/dtype.hpp"

namespace erg {

struct Planes {  // [images][blocks][pixels][block]
  DType dtype = DType::f32;
  int64_t images = 0, channels = 0, pixels = 0;  // channels as the network counts them; the last block's rest is zero
  int64_t block = 1;
  int64_t blocks() const { return (channels + block - 1) / block; }
  int64_t elements() const { return images * blocks() * pixels * block; }
  int64_t bytes() const { return elements() * bytes_of(dtype); }
};

}  // namespace erg
