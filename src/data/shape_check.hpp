// Batches of no size are refused before anything divides by them.
#pragma once
#include "data/batches.hpp"

namespace erg {

void check(const TextShape& shape);  // throws Error(usage)
void check(const ImageShape& shape);

}  // namespace erg
