// A Spec as canonical TOML, as JSON and as a hash; the words for enumerators.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "spec/keys.hpp"
#include "spec/names.hpp"
#include "spec/spec.hpp"

namespace erg {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const TomlValue& value) {
  if (const auto* array = value.as<TomlArray>()) {
    Json out = Json::array();
    for (const TomlValue& element : *array) out.push_back(json_of(element));
    return out;
  }
  if (const auto* b = value.as<bool>()) return *b;
  if (const auto* i = value.as<int64_t>()) return *i;
  if (const auto* d = value.as<double>()) return *d;
  if (const auto* s = value.as<std::string>()) return *s;
  return nullptr;
}

// Calls visit(key, value) for every key that the spec's workload uses and that has a value, in the order of the table.
template <class Visit>
void for_each_value(const Spec& spec, const Visit& visit) {
  for (const Key& key : spec_keys()) {
    if (!key.used_by(spec.workload.kind)) continue;
    if (const auto value = key.get(spec)) visit(key, *value);
  }
}

}  // namespace

const char* name_of(WorkloadKind k) { return name_in(workload_kinds, k); }
const char* name_of(Precision p) { return name_in(precisions, p); }
const char* name_of(Positions p) { return name_in(position_kinds, p); }
const char* name_of(Recompute r) { return name_in(recompute_kinds, r); }

std::string to_toml(const Spec& spec) {
  std::string out, table;
  for_each_value(spec, [&](const Key& key, const TomlValue& value) {
    if (key.table() != table) {
      table = key.table();
      out += fmt::format("\n[{}]\n", table.substr(0, table.size() - 1));
    }
    out += fmt::format("{} = {}\n", key.leaf(), toml_text(value));
  });
  if (!spec.labels.empty()) out += "\n[labels]\n";
  for (const auto& [name, text] : spec.labels) out += fmt::format("{} = {}\n", toml_text({name, {}}), toml_text({text, {}}));
  return out;
}

std::string to_json(const Spec& spec) {
  Json out;
  for_each_value(spec, [&](const Key& key, const TomlValue& value) {
    const std::string table = key.table();
    Json& at = table.empty() ? out : out[table.substr(0, table.size() - 1)];
    at[key.leaf()] = json_of(value);
  });
  for (const auto& [name, text] : spec.labels) out["labels"][name] = text;
  return out.dump();
}

std::string spec_hash(const Spec& spec) {
  Spec same = spec;
  same.labels.clear();
  same.repeat_index = 0;
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, 64 bits (Fowler, Noll, Vo)
  for (const unsigned char c : to_toml(same)) hash = (hash ^ c) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
}

}  // namespace erg
