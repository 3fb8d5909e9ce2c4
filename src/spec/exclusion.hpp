// An entry of `exclude`: which points of a sweep vanish.
#pragma once
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "spec/expression.hpp"

namespace erg {

// Either a condition, or keys of which every one must have one of its values.
struct Exclusion {
  Condition condition;
  std::vector<std::pair<const Key*, std::set<std::string>>> values;  // as canonical text
  std::string where;

  bool matches(const Spec& spec) const;
  std::vector<const Key*> keys() const;
};

// A string is a condition, a table holds values: {global_batch = [512, 1024], precision = "fp32"}. Throws Error(usage).
Exclusion read_exclusion(const TomlValue& value, const std::string& source, const std::string& where);

}  // namespace erg
