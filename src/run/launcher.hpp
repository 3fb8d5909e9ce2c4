// `--launcher "srun -n 1 --gpus {devices}"`: the words that stand before a child's own command.
#pragma once
#include <string>
#include <vector>

#include "spec/spec.hpp"

namespace erg {

// Cut at blanks as a shell does it, with '...' and "..." for words that hold some; then {devices}, {point} (from 1), {id} (of the record)
// are filled in. Throws Error(usage) for an open quote or another placeholder.
struct LauncherFacts {
  int64_t devices = 1;
  size_t point = 0;  // from 0
  std::string id;
};
std::vector<std::string> launcher_words(const std::string& text, const LauncherFacts& facts);

}  // namespace erg
