// TOML as a plain tree in the order of the file, with the place of every key, so that errors can point at it.
// toml++ itself stays in toml.cpp: its header takes seconds to compile.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace erg {

struct Place {
  uint32_t line = 0, column = 0;  // from 1; 0: not from a file
};

struct TomlValue;
struct TomlEntry;
using TomlArray = std::vector<TomlValue>;
using TomlTable = std::vector<TomlEntry>;

struct TomlValue {
  // monostate: a date or a time, which no key of ours takes.
  std::variant<std::monostate, bool, int64_t, double, std::string, TomlArray, TomlTable> data;
  Place place;

  template <class T>
  const T* as() const {
    return std::get_if<T>(&data);
  }
};

struct TomlEntry {
  std::string key;
  Place place;
  TomlValue value;
};

// `source` is the file's name in errors. Throws Error(usage) at source:line:column.
TomlTable parse_toml(std::string_view text, const std::string& source);
// The value of a flag such as --set: TOML, or, where that is no TOML at all, a bare word taken as a string.
TomlValue parse_toml_value(const std::string& text, const std::string& source);

std::string toml_text(const TomlValue& value);                   // on one line; doubles in the fewest digits that read back the same
std::string shortened(const std::string& text);                  // for messages: at most about 80 bytes
std::string place_text(const std::string& source, Place place);  // "specs/quick.toml:3:1"

}  // namespace erg
