// Positions come from records, which people edit: every number is checked.
#include "data/positions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"

namespace erg {

void require_sources(const DataPosition& position, size_t sources) {
  if (position.size() != sources)
    throw Error(ErrorKind::usage, fmt::format("is of {} sources, the data have {}", position.size(), sources), "the data position");
  for (const SourcePosition& p : position)
    if (std::min({p.epoch, p.index, p.samples, p.validation}) < 0) throw Error(ErrorKind::usage, "is negative", "the data position");
}

DataPosition single_position(int64_t samples, int64_t validation, int64_t epoch) {
  return {{epoch ? samples / epoch : 0, epoch ? samples % epoch : samples, samples, validation}};
}

SourcePosition require_single(const DataPosition& position, int64_t epoch) {
  require_sources(position, 1);
  if (single_position(position[0].samples, position[0].validation, epoch) != position)
    throw Error(ErrorKind::usage,
                fmt::format("epoch {} and index {} are not those of sample {}", position[0].epoch, position[0].index, position[0].samples),
                "the data position", "the position was made with other data");
  return position[0];
}

}  // namespace erg
