// Taking over the runs and sweeps of another results folder. Nothing that is stored here is ever lost: a run that both have stays as it
// is, unless ours is an unfinished state of the same run.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace erg {

struct MergeResult {
  int runs = 0, sweeps = 0;            // taken over, completed ones included
  int same = 0;                        // were here already
  std::vector<std::string> left_out;   // broken or half-copied: what and why
  std::vector<std::string> conflicts;  // the same id with another content
};

// Throws Error(usage) when `from` is no folder, Error(failed) when ours cannot be written.
MergeResult merge_into(Store& store, const std::filesystem::path& from);

}  // namespace erg
