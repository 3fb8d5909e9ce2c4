// A spec on its way from text to Spec: documents of settings and axes, laid over each other, then built.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "spec/keys.hpp"
#include "spec/spec.hpp"

namespace erg {

// One key with the value somebody gave it, and where.
struct Setting {
  const Key* key;
  TomlValue value;
  std::string where;  // "specs/quick.toml:3:1" or "--set workload.layers=2"
};

struct SettingAxis {
  const Key* key;
  std::vector<Setting> values;
};

// One file, one [[sweep]] table in it, or the flags of the command line.
struct Document {
  std::vector<Setting> settings;
  std::vector<SettingAxis> axes;
  std::vector<std::pair<std::string, std::string>> labels;
  std::vector<Document> sweeps;
};

// From a preset's name or a file. Throws Error(usage).
Document read_source(const std::string& source);
Document read_flags(const SpecRequest& request);

// `above` laid over `below`: its settings come later and win, its settings and axes take the place of axes of the same key.
Document overlay(Document below, const Document& above);

// Throws Error(usage) for the first key in `given` that none of these workload kinds uses.
void require_used(const Document& given, const std::set<WorkloadKind>& kinds);

// Kind defaults, then the preset's, then `settings` in order, then what follows from them. Throws Error(usage) at the setting's place.
Spec build_spec(const std::vector<Setting>& settings, const std::vector<std::pair<std::string, std::string>>& labels);

}  // namespace erg
