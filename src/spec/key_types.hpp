// Makers of the rows of the table of keys (keys.cpp), one per type of value. Each takes the key's name, where its field lives
// (a function from the Spec to the field, const or not as the Spec is), what values are valid, which workloads use it, and its meaning.
#pragma once
#include <fmt/format.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "spec/keys.hpp"
#include "spec/names.hpp"

namespace erg {

inline TomlValue value_of(auto content) { return {std::move(content), {}}; }

template <class At>
Key integer(std::string name, At at, int64_t low, int64_t high, unsigned kinds, std::string doc) {
  const auto set = [=](Spec& s, const TomlValue& v) {
    const auto* n = v.as<int64_t>();
    if (n && low <= *n && *n <= high) at(s) = *n;
    return n && low <= *n && *n <= high;
  };
  const auto get = [=](const Spec& s) { return value_of(int64_t(at(s))); };
  const bool bounded = high < std::numeric_limits<int64_t>::max();
  return {name, kinds, bounded ? fmt::format("an integer from {} to {}", low, high) : fmt::format("an integer from {}", low),
          doc,  {},    false,
          set,  get};
}

enum class Ends { closed, open_low, open_high };

// Fields of type double or optional<double>; integers are numbers too.
template <class At>
Key number(std::string name, At at, double low, double high, Ends ends, unsigned kinds, std::string doc) {
  const auto set = [=](Spec& s, const TomlValue& v) {
    const auto* n = v.as<int64_t>();
    const auto* r = v.as<double>();
    if (!n && !r) return false;
    const double x = n ? double(*n) : *r;
    const bool inside = (ends == Ends::open_low ? x > low : x >= low) && (ends == Ends::open_high ? x < high : x <= high);
    if (inside) at(s) = x;
    return inside;  // NaN is never inside
  };
  const auto get = [=](const Spec& s) -> std::optional<TomlValue> {
    const std::optional<double> x = at(s);
    return x ? std::optional(value_of(*x)) : std::nullopt;
  };
  return {name,
          kinds,
          fmt::format("a number {} {} {} {}", ends == Ends::open_low ? "above" : "from", low, ends == Ends::open_high ? "to below" : "to",
                      high),
          doc,
          {},
          false,
          set,
          get};
}

template <class At>
Key boolean(std::string name, At at, unsigned kinds, std::string doc) {
  const auto set = [=](Spec& s, const TomlValue& v) {
    if (const auto* b = v.as<bool>()) at(s) = *b;
    return v.as<bool>() != nullptr;
  };
  return {name, kinds, "true or false", doc, {}, false, set, [=](const Spec& s) { return value_of(at(s)); }};
}

template <class At>
Key text(std::string name, At at, bool (*valid)(const std::string&), std::string type, unsigned kinds, std::string doc) {
  const auto set = [=](Spec& s, const TomlValue& v) {
    const auto* t = v.as<std::string>();
    if (t && valid(*t)) at(s) = *t;
    return t && valid(*t);
  };
  return {name, kinds, type, doc, {}, true, set, [=](const Spec& s) { return value_of(at(s)); }};
}

template <class At, class Names>
Key choice(std::string name, At at, const Names& names, unsigned kinds, std::string doc) {
  std::vector<std::string> words;
  for (const auto& entry : names) words.push_back(entry.first);
  const auto set = [=](Spec& s, const TomlValue& v) {
    const auto* t = v.as<std::string>();
    for (const auto& [word, value] : names)
      if (t && *t == word) {
        at(s) = value;
        return true;
      }
    return false;
  };
  const auto get = [=](const Spec& s) { return value_of(std::string(name_in(names, at(s)))); };
  return {name, kinds, fmt::format("one of {}", fmt::join(words, ", ")), doc, words, true, set, get};
}

// A list whose elements `take` accepts one by one; a single element may stand without brackets.
template <class Element, class At>
Key list(std::string name, At at, bool (*take)(const Element&), std::string type, unsigned kinds, std::string doc) {
  const auto set = [=](Spec& s, const TomlValue& v) {
    const TomlArray alone = {v};
    const auto* array = v.as<TomlArray>();
    std::vector<Element> elements;
    for (const TomlValue& element : array ? *array : alone) {
      const auto* e = element.as<Element>();
      if (!e || !take(*e)) return false;
      elements.push_back(*e);
    }
    if (elements.empty()) return false;
    at(s) = std::move(elements);
    return true;
  };
  const auto get = [=](const Spec& s) {
    TomlArray array;
    for (const Element& e : at(s)) array.push_back(value_of(e));
    return value_of(std::move(array));
  };
  return {name, kinds, type, doc, {}, false, set, get};
}

}  // namespace erg
