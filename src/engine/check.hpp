// What makes a descriptor impossible, the same for every engine.
#pragma once
#include "model/ops.hpp"

namespace erg {

// Throws Error(usage) naming the op and what is wrong with it: sizes below 1, an output without pixels, odd head sizes under RoPE, ...
void check_descriptor(const OpDesc& desc);

}  // namespace erg
