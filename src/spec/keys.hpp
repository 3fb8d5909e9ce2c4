// The keys of a spec file, as one table: parsing, validation of single values, canonical text, JSON, documentation and
// the search for the nearest name all follow it.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "spec/spec.hpp"
#include "spec/toml.hpp"

namespace erg {

inline constexpr unsigned for_gpt = 1, for_resnet = 2, for_external = 4, for_training = for_gpt | for_resnet, for_all = 7;

struct Key {
  std::string name;  // "workload.global_batch"
  unsigned kinds;    // which workload kinds use it
  std::string type;  // "integer from 1 to 4194304": completes "it takes …"
  std::string doc;
  std::vector<std::string> choices;                          // of a key that takes one of some words
  bool text;                                                 // takes a string: on the command line it needs no quotes
  std::function<bool(Spec&, const TomlValue&)> set;          // false: the value is not of that type
  std::function<std::optional<TomlValue>(const Spec&)> get;  // nullopt: unset

  std::string table() const { return name.substr(0, name.find('.') + 1); }  // "workload.", or "" at the top
  std::string leaf() const { return name.substr(name.find('.') + 1); }      // "global_batch": unique over all tables
  bool used_by(WorkloadKind kind) const { return kinds >> unsigned(kind) & 1; }
};

const std::vector<Key>& spec_keys();
bool is_key_table(const std::string& name);  // "workload", ...

// By full or bare name. Throws Error(usage) with the nearest name.
const Key& find_key(const std::string& name, const std::string& where);

}  // namespace erg
