// How images lie in the CPU engine's memory: NCHW with channels in blocks of one vector register, as oneDNN's fastest kernels want.
#pragma once
#include "engine/cpu/kernels/planes.hpp"
#include "engine/tensor.hpp"

namespace erg {

// Channels in a block for an image of so many channels: 16 or 8, or 1 (plain NCHW) for photographs and where oneDNN has no blocked
// kernels.
int64_t channel_block(DType dtype, int64_t channels);

Planes planes_of(DType dtype, int64_t images, int64_t channels, int64_t pixels);
Planes planes_of(const Tensor& image);

}  // namespace erg
