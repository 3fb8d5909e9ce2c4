// What this binary is: version, source revision, compiler, flags.
#pragma once
#include <string>

#include "store/record.hpp"

namespace erg {

struct BuildInfo {
  std::string version, git_revision;  // git: "unavailable" outside a clone
  std::string git_dirty;              // "true", "false" or "unavailable"
  std::string compiler, flags, build_type, sanitizers;
  bool debug = false;  // assertions, no optimization, or sanitizers: its speed says nothing
};

const BuildInfo& build_info();
Json build_json();

}  // namespace erg
