// Positions of data that have one source, and what is checked of any.
#pragma once
#include <cstddef>

#include "data/batches.hpp"

namespace erg {

// Throws Error(usage) unless there are `sources` entries without negative numbers.
void require_sources(const DataPosition& position, size_t sources);

// The position of one source whose epochs have `epoch` samples; 0: one endless epoch.
DataPosition single_position(int64_t samples, int64_t validation, int64_t epoch);
// Back again. Throws Error(usage) when epoch, index and samples contradict each other.
SourcePosition require_single(const DataPosition& position, int64_t epoch);

}  // namespace erg
