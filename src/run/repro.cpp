// The command that repeats a run: the preset and every key that differs from it, quoted for a shell.
#include <fmt/format.h>

#include <algorithm>

#include "run/measure.hpp"

namespace erg {
namespace {

std::string shell_word(const std::string& text) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) || std::string_view("_-+=.,:/@%").find(char(c)) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
  std::string quoted = "'";
  for (char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

// {"workload":{"layers":2}} -> {"workload.layers", 2}. JSON's strings, numbers, booleans and arrays are TOML's too.
void flatten(const Json& json, const std::string& prefix, std::vector<std::pair<std::string, Json>>& out) {
  for (const auto& [key, value] : json.items())
    if (value.is_object())
      flatten(value, prefix + key + ".", out);
    else
      out.emplace_back(prefix + key, value);
}

// Flags take a string as it stands, except that one which begins with a quote is read as TOML.
std::string flag_value(const Json& value) {
  if (!value.is_string()) return value.dump();
  const std::string text = value;
  return text.starts_with('"') || text.starts_with('\'') ? value.dump() : text;
}

std::vector<std::pair<std::string, Json>> keys_of(Spec spec) {
  spec.labels.clear();
  spec.repeat_index = 0;
  std::vector<std::pair<std::string, Json>> keys;
  flatten(Json::parse(to_json(spec)), "", keys);
  return keys;
}

}  // namespace

std::string repro_line(const Spec& spec) {
  std::string labels;
  for (const auto& [name, value] : spec.labels) labels += " --label " + shell_word(name + "=" + value);
  // Without a preset there is no name to start from: the spec itself is the input.
  if (spec.workload.preset.empty()) {
    Spec one = spec;
    one.labels.clear();
    one.repeat_index = 0;
    return fmt::format("printf %s {} | ergometer run /dev/stdin{}", shell_word(to_toml(one)), labels);
  }
  std::string line = "ergometer run " + spec.workload.preset;
  const auto defaults = keys_of(load_spec({spec.workload.preset, {}, {}, {}}));
  for (const auto& key : keys_of(spec)) {
    if (std::find(defaults.begin(), defaults.end(), key) != defaults.end()) continue;
    line += " --set " + shell_word(key.first + "=" + flag_value(key.second));
  }
  return line + labels;
}

}  // namespace erg
