// The only file that includes toml++, and the writing of values.
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include "spec/toml.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>

#include "core/error.hpp"

namespace erg {
namespace {

Place place_of(const toml::source_region& region) { return {region.begin.line, region.begin.column}; }

TomlValue convert(const toml::node& node) {
  TomlValue value;
  value.place = place_of(node.source());
  if (const auto* table = node.as_table()) {
    TomlTable entries;
    for (const auto& [key, child] : *table) entries.push_back({std::string(key.str()), place_of(key.source()), convert(child)});
    // toml++ sorts by name; people and sweeps mean the order they wrote.
    std::stable_sort(entries.begin(), entries.end(), [](const TomlEntry& a, const TomlEntry& b) {
      return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
    });
    value.data = std::move(entries);
  } else if (const auto* array = node.as_array()) {
    TomlArray elements;
    for (const toml::node& child : *array) elements.push_back(convert(child));
    value.data = std::move(elements);
  } else if (const auto* text = node.as_string()) {
    value.data = text->get();
  } else if (const auto* integer = node.as_integer()) {
    value.data = integer->get();
  } else if (const auto* real = node.as_floating_point()) {
    value.data = real->get();
  } else if (const auto* boolean = node.as_boolean()) {
    value.data = boolean->get();
  }
  return value;
}

// Past the end of the string that begins at `at`. One that is never closed ends with its line, as it does for the parser.
size_t end_of_string(std::string_view text, size_t at) {
  const char quote = text[at];
  const std::string three(3, quote);
  const bool multiline = text.substr(at, 3) == three;
  for (at += multiline ? 3 : 1; at < text.size(); ++at) {
    if (quote == '"' && text[at] == '\\') {
      ++at;
    } else if (!multiline && (text[at] == quote || text[at] == '\n')) {
      return at + 1;
    } else if (multiline && text.substr(at, 3) == three) {
      at += 3;
      for (int own = 0; own < 2 && at < text.size() && text[at] == quote; ++own) ++at;  // """a""""" ends in two quotes of its own
      return at;
    }
  }
  return text.size();
}

// Trees are built and freed by recursion, ours and toml++'s: "a.a.a.…" or "[[[…" a million deep would overflow the stack.
void refuse_deep_nesting(std::string_view text, const std::string& source) {
  constexpr int deepest = 16;
  int brackets = 0, dots = 0;  // dots of the key that is being read
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      at = end_of_string(text, at);
      continue;
    }
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (c == '[' || c == '{') ++brackets;
    if (c == ']' || c == '}') brackets = std::max(0, brackets - 1);
    if (c == '.') ++dots;
    if (std::string_view("[]{}=,\n").find(c) != std::string_view::npos) dots = 0;
    if (brackets > deepest || dots > deepest) {
      const auto line = 1 + std::count(text.begin(), text.begin() + std::ptrdiff_t(at), '\n');
      throw Error(ErrorKind::usage, fmt::format("nested more than {} deep", deepest), place_text(source, {uint32_t(line), 1}));
    }
    ++at;
  }
}

// A TOML basic string. Escapes what must not stand in one; everything else is kept as it is.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out.append(1, '\\').append(1, c);
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\u{:04X}", int(c));
    else
      out += c;
  }
  return out.append(1, '"');
}

std::string joined(const TomlArray& array) {
  std::string out;
  for (const TomlValue& element : array) out.append(out.empty() ? "" : ", ").append(toml_text(element));
  return out;
}

}  // namespace

TomlTable parse_toml(std::string_view text, const std::string& source) {
  refuse_deep_nesting(text, source);
  try {
    const toml::table document = toml::parse(text);
    return std::get<TomlTable>(convert(document).data);
  } catch (const toml::parse_error& e) {
    throw Error(ErrorKind::usage, std::string(e.description()), place_text(source, place_of(e.source())));
  }
}

TomlValue parse_toml_value(const std::string& text, const std::string& source) {
  const auto parse = [&](const std::string& value) {
    const TomlTable table = parse_toml("x = " + value, source);
    if (table.size() != 1) throw Error(ErrorKind::usage, "not one value", source);  // a line break and more keys
    TomlValue only = table[0].value;
    only.place = {};
    return only;
  };
  try {
    return parse(text);
  } catch (const Error& e) {
    if (!text.empty() && std::string_view("[{\"'").find(text[0]) != std::string_view::npos)
      throw Error(ErrorKind::usage, e.message(), source);
  }
  try {
    return parse(quoted(text));
  } catch (const Error& e) {
    throw Error(ErrorKind::usage, e.message(), source);  // invalid UTF-8
  }
}

std::string toml_text(const TomlValue& value) {
  if (const auto* boolean = value.as<bool>()) return *boolean ? "true" : "false";
  if (const auto* integer = value.as<int64_t>()) return fmt::format("{}", *integer);
  if (const auto* text = value.as<std::string>()) return quoted(*text);
  if (const auto* array = value.as<TomlArray>()) return fmt::format("[{}]", joined(*array));
  if (const auto* real = value.as<double>()) {
    const std::string digits = fmt::format("{}", *real);
    return digits.find_first_not_of("-0123456789") == digits.npos ? digits + ".0" : digits;  // "120" would read back as an integer
  }
  if (const auto* table = value.as<TomlTable>()) {
    std::string out;
    for (const TomlEntry& e : *table) out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", quoted(e.key), toml_text(e.value));
    return fmt::format("{{{}}}", out);
  }
  return "a date or time";
}

std::string shortened(const std::string& text) {
  constexpr size_t most = 80;
  if (text.size() <= most) return text;
  size_t end = most;
  while (end > 0 && (text[end] & 0xc0) == 0x80) --end;  // not inside a UTF-8 character
  return text.substr(0, end) + "…";
}

std::string place_text(const std::string& source, Place place) {
  return place.line == 0 ? source : fmt::format("{}:{}:{}", source, place.line, place.column);
}

}  // namespace erg
