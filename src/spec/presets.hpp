// Ready-made workloads and the defaults of each kind, written as a [workload] table is and read by the same code.
#pragma once
#include <string>
#include <vector>

#include "spec/spec.hpp"

namespace erg {

struct Preset {
  std::string name;
  std::string settings;  // TOML of its [workload] table
};

const std::vector<Preset>& presets();
const char* kind_defaults(WorkloadKind kind);  // TOML likewise

}  // namespace erg
