// The grammar of --axis: KEY=ITEM,ITEM,… where an item is a value or a range first-last*factor or first-last+step.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>

#include "core/error.hpp"
#include "spec/spec.hpp"

namespace erg {
namespace {

constexpr size_t most_values = 10'000;

// At commas that stand outside quotes and brackets.
std::vector<std::string> split_items(const std::string& text) {
  std::vector<std::string> items(1);
  int depth = 0;
  char quote = 0;
  for (const char c : text) {
    if (quote)
      quote = c == quote ? 0 : quote;
    else if (c == '"' || c == '\'')
      quote = c;
    else if (c == '[' || c == '{')
      ++depth;
    else if (c == ']' || c == '}')
      --depth;
    if (c == ',' && depth == 0 && !quote)
      items.emplace_back();
    else
      items.back() += c;
  }
  for (std::string& item : items) {
    item.erase(0, item.find_first_not_of(" \t"));
    item.erase(item.find_last_not_of(" \t") + 1);
  }
  return items;
}

int64_t to_integer(const std::string& digits, const std::string& where) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{}) throw Error(ErrorKind::usage, fmt::format("{} does not fit into 64 bits", digits), where);
  return value;
}

Error too_many(const std::string& where) { return Error(ErrorKind::usage, fmt::format("more than {} values", most_values), where); }

struct Range {
  std::string first, last, step;  // digits
  char operation = 0;             // '*', '+', or 0 when the step is missing
};

// "32-2048*2", spaces allowed between the parts; nullopt for everything else, such as "1e-4" or "gpt-117m".
std::optional<Range> read_range(std::string_view text) {
  const auto skip_spaces = [&] { text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size())); };
  const auto take_digits = [&](std::string& digits) {
    skip_spaces();
    const size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    digits = text.substr(0, end);
    text.remove_prefix(end);
    skip_spaces();
    return end > 0;
  };
  Range range;
  if (!take_digits(range.first) || !text.starts_with('-')) return std::nullopt;
  text.remove_prefix(1);
  if (!take_digits(range.last)) return std::nullopt;
  if (text.empty()) return range;
  range.operation = text[0];
  if (range.operation != '*' && range.operation != '+') return std::nullopt;
  text.remove_prefix(1);
  return take_digits(range.step) && text.empty() ? std::optional(range) : std::nullopt;
}

// Values beyond the last are left out: 1-8+4 is 1, 5.
void add_values(const Range& range, const std::string& item, const std::string& where, std::vector<std::string>& values) {
  if (range.operation == 0)
    throw Error(ErrorKind::usage, fmt::format("range {} has no step", item), where, fmt::format("write {}+1 or {}*2", item, item));
  const bool multiply = range.operation == '*';
  const int64_t first = to_integer(range.first, where), last = to_integer(range.last, where), step = to_integer(range.step, where);
  if (first > last || step < (multiply ? 2 : 1) || (multiply && first == 0))
    throw Error(ErrorKind::usage, fmt::format("range {} never ends", item), where, "ranges go up: 16-128*2 or 1-9+2");
  for (int64_t value = first;;) {
    if (values.size() >= most_values) throw too_many(where);
    values.push_back(std::to_string(value));
    if (multiply ? value > last / step : value > last - step) return;
    value = multiply ? value * step : value + step;
  }
}

}  // namespace

Axis parse_axis(const std::string& text, const std::string& place) {
  const std::string where = place.empty() ? "--axis " + text : place;
  const size_t equals = text.find('=');
  if (equals == text.npos || equals == 0)
    throw Error(ErrorKind::usage, "there is no key=values", where, "write --axis global_batch=16,32-2048*2");
  Axis axis{text.substr(0, equals), {}};
  for (const std::string& item : split_items(text.substr(equals + 1))) {
    if (item.empty()) throw Error(ErrorKind::usage, "there is an empty value", where, "separate values by single commas");
    if (axis.values.size() >= most_values) throw too_many(where);
    if (const auto range = read_range(item))
      add_values(*range, item, where, axis.values);
    else
      axis.values.push_back(item);
  }
  // A value that a list and a range both name is one point.
  std::set<std::string> seen;
  std::vector<std::string> once;
  for (const std::string& v : axis.values)
    if (seen.insert(v).second) once.push_back(v);
  axis.values = std::move(once);
  return axis;
}

}  // namespace erg
