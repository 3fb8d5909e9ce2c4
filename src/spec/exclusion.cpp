// Reading and matching exclusions. Values are compared as canonical text, so that every type of key can be excluded.
#include "spec/exclusion.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"

namespace erg {
namespace {

std::string canonical(const Key& key, const TomlValue& value, const std::string& where) {
  Spec spec;
  if (!key.set(spec, value))
    throw Error(ErrorKind::usage, fmt::format("{} = {} is not possible: it takes {}", key.name, shortened(toml_text(value)), key.type),
                where);
  return toml_text(*key.get(spec));
}

void read_table(const TomlTable& table, const std::string& prefix, const std::string& source, Exclusion& e) {
  for (const TomlEntry& entry : table) {
    const std::string name = prefix + entry.key, where = place_text(source, entry.place);
    if (const auto* inner = entry.value.as<TomlTable>()) {
      read_table(*inner, name + ".", source, e);  // workload.global_batch = 512
      continue;
    }
    const Key& key = find_key(name, where);
    std::set<std::string> values;
    const auto* list = entry.value.as<TomlArray>();
    const TomlArray alone = {entry.value};
    for (const TomlValue& v : list ? *list : alone) values.insert(canonical(key, v, where));
    if (values.empty()) throw Error(ErrorKind::usage, fmt::format("{} has no value to exclude", key.name), where);
    e.values.emplace_back(&key, std::move(values));
  }
}

}  // namespace

bool Exclusion::matches(const Spec& spec) const {
  if (!condition.all.empty()) return condition.holds(spec);
  return std::all_of(values.begin(), values.end(), [&](const auto& wanted) {
    const auto value = wanted.first->get(spec);
    return wanted.first->used_by(spec.workload.kind) && value && wanted.second.count(toml_text(*value));
  });
}

std::vector<const Key*> Exclusion::keys() const {
  std::vector<const Key*> named;
  condition.add_keys(named);
  for (const auto& [key, ignored] : values) named.push_back(key);
  return named;
}

Exclusion read_exclusion(const TomlValue& value, const std::string& source, const std::string& where) {
  Exclusion e;
  e.where = where;
  if (const auto* text = value.as<std::string>())
    e.condition = parse_condition(*text, where);
  else if (const auto* table = value.as<TomlTable>())
    read_table(*table, "", source, e);
  if (e.condition.all.empty() && e.values.empty())
    throw Error(ErrorKind::usage, "exclude takes conditions and tables of values", where,
                "write exclude = [\"global_batch > 512 and devices == 1\", {precision = \"fp32\", sequence = [512, 1024]}]");
  return e;
}

}  // namespace erg
