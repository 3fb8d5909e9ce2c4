// Whole-number formulas over the keys of a spec: "global_batch / devices", and conditions: "global_batch > 512 and devices == 1".
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spec/keys.hpp"

namespace erg {

// A number or why there is none: "10 / 4 leaves a remainder".
struct FormulaResult {
  std::optional<int64_t> value;
  std::string problem;
};

// + - * / min max and parentheses; / must divide. Numbers are 64-bit, and what overflows is a problem, not an error.
struct Formula {
  enum class Op { number, key, negate, add, subtract, multiply, divide, smaller, larger };
  Op op = Op::number;
  int64_t number = 0;
  const Key* key = nullptr;
  std::vector<Formula> parts;

  FormulaResult evaluate(const Spec& spec) const;
  void add_keys(std::vector<const Key*>& keys) const;  // appends those it names
};

// Comparisons joined by `and`: == != < <= > >=.
struct Condition {
  struct Comparison {
    Formula left, right;
    std::string sign;
  };
  std::vector<Comparison> all;

  bool holds(const Spec& spec) const;  // false also where a formula has no value
  void add_keys(std::vector<const Key*>& keys) const;
};

// Both throw Error(usage) at `where` for what they cannot read, for unknown keys and for keys that hold no whole number.
Formula parse_formula(const std::string& text, const std::string& where);
Condition parse_condition(const std::string& text, const std::string& where);

}  // namespace erg
