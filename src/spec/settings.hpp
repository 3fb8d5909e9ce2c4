// A spec on its way from text to Spec: documents of settings and axes, laid over each other, then built.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "spec/exclusion.hpp"
#include "spec/expression.hpp"
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

// Axes whose values advance together.
struct Zip {
  std::vector<const Key*> keys;
  std::string where;
};

// A value that follows from others.
struct Computed {
  const Key* key;
  std::string text;  // as it was written
  Formula formula;
  std::string where;
};

// One file, one [[sweep]] table in it, or the flags of the command line.
struct Document {
  std::vector<Setting> settings;
  std::vector<SettingAxis> axes;
  std::vector<Zip> zips;
  std::vector<Exclusion> exclusions;
  std::vector<Computed> computed;
  std::vector<std::pair<std::string, std::string>> labels;
  std::vector<Document> sweeps;
};

// From a preset's name or a file. Throws Error(usage).
Document read_source(const std::string& source);
Document read_text(const std::string& toml, const std::string& source);  // a file's content; `source` is its name in errors
Document read_flags(const SpecRequest& request);

// `above` laid over `below`: its settings come later and win; its settings, axes and computed values take the place of axes and computed
// values of the same key, and its exclusions are added.
Document overlay(Document below, const Document& above);

// Throws Error(usage) for the first key in `given` that none of these workload kinds uses.
void require_used(const Document& given, const std::set<WorkloadKind>& kinds);

// Kind defaults, then the preset's, then `settings` in order, then what follows from them. Throws Error(usage) at the setting's place.
Spec build_spec(const std::vector<Setting>& settings, const std::vector<std::pair<std::string, std::string>>& labels);

// A spec with its computed values, in their order, or why one of them has none (then the spec is without it and those after it).
struct BuiltSpec {
  Spec spec;
  std::string problem;  // "workload.micro_batch = global_batch / devices: 10 / 4 leaves a remainder"
  std::string where;
};
BuiltSpec build_computed(std::vector<Setting> settings, const Document& document);

}  // namespace erg
