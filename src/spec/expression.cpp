// A recursive descent parser and the arithmetic. Texts are short, so that trees are shallow.
#include "spec/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "core/error.hpp"

namespace erg {
namespace {

constexpr size_t longest_text = 500;

using Op = Formula::Op;

class Parser {
 public:
  Parser(const std::string& text, const std::string& where) : text_(text), where_(where) {
    if (text.size() > longest_text)
      throw Error(ErrorKind::usage, fmt::format("a formula of {} characters, more than {}", text.size(), longest_text), where);
  }

  Formula formula() {
    Formula f = sum();
    expect_end();
    return f;
  }

  Condition condition() {
    Condition c;
    do {
      Formula left = sum();
      const std::string sign = comparison();
      c.all.push_back({std::move(left), sum(), sign});
    } while (take_word("and"));
    expect_end();
    return c;
  }

 private:
  Formula sum() {
    Formula left = product();
    for (;;) {
      if (take('+'))
        left = binary(Op::add, std::move(left), product());
      else if (take('-'))
        left = binary(Op::subtract, std::move(left), product());
      else
        return left;
    }
  }

  Formula product() {
    Formula left = factor();
    for (;;) {
      if (take('*'))
        left = binary(Op::multiply, std::move(left), factor());
      else if (take('/'))
        left = binary(Op::divide, std::move(left), factor());
      else
        return left;
    }
  }

  Formula factor() {
    if (take('-')) {
      Formula f;
      f.op = Op::negate;
      f.parts.push_back(factor());
      return f;
    }
    if (take('(')) {
      Formula f = sum();
      expect(')');
      return f;
    }
    skip_spaces();
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) return number();
    const std::string name = word();
    if (name.empty()) fail();
    if (name == "min" || name == "max") return call(name == "min" ? Op::smaller : Op::larger);
    Formula f;
    f.op = Op::key;
    f.key = &find_key(name, where_);
    const auto value = f.key->get(Spec{});
    if (!value || !value->as<int64_t>())
      throw Error(ErrorKind::usage, fmt::format("{} is not a whole number: it takes {}", f.key->name, f.key->type), where_,
                  "formulas are made of keys that take integers");
    return f;
  }

  Formula call(Op op) {
    expect('(');
    Formula f = sum();
    expect(',');
    f = binary(op, std::move(f), sum());
    while (take(',')) f = binary(op, std::move(f), sum());
    expect(')');
    return f;
  }

  Formula number() {
    Formula f;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), f.number);
    if (error != std::errc{}) throw Error(ErrorKind::usage, fmt::format("a number in \"{}\" does not fit into 64 bits", text_), where_);
    at_ = size_t(end - text_.data());
    if (at_ < text_.size() && (text_[at_] == '.' || std::isalpha(static_cast<unsigned char>(text_[at_])))) fail();
    return f;
  }

  std::string comparison() {
    skip_spaces();
    for (const std::string sign : {"==", "!=", "<=", ">=", "<", ">"})
      if (text_.compare(at_, sign.size(), sign) == 0) {
        at_ += sign.size();
        return sign;
      }
    throw Error(ErrorKind::usage, fmt::format("there is no comparison in \"{}\"", text_), where_,
                "write global_batch > 512, with == != < <= > >=");
  }

  static Formula binary(Op op, Formula left, Formula right) {
    Formula f;
    f.op = op;
    f.parts.push_back(std::move(left));
    f.parts.push_back(std::move(right));
    return f;
  }

  std::string word() {
    skip_spaces();
    size_t end = at_;
    const auto in_name = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.'; };
    while (end < text_.size() && in_name(static_cast<unsigned char>(text_[end]))) ++end;
    const std::string found = text_.substr(at_, end - at_);
    at_ = end;
    return found;
  }
  bool take_word(const std::string& expected) {
    const size_t before = at_;
    if (word() == expected) return true;
    at_ = before;
    return false;
  }
  bool take(char c) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail();
  }
  void expect_end() {
    skip_spaces();
    if (at_ < text_.size()) fail();
  }
  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  [[noreturn]] void fail() const {
    throw Error(ErrorKind::usage,
                at_ < text_.size() ? fmt::format("cannot read \"{}\" from \"{}\" on", text_, text_.substr(at_))
                                   : fmt::format("\"{}\" is not complete", text_),
                where_, "formulas have whole numbers, keys, + - * / ( ) min(a, b) max(a, b)");
  }

  const std::string& text_;
  const std::string& where_;
  size_t at_ = 0;
};

FormulaResult combine(Op op, int64_t a, int64_t b) {
  int64_t r = 0;
  bool overflow = false;
  const char* sign = "";
  switch (op) {
    case Op::add: overflow = __builtin_add_overflow(a, b, &r), sign = "+"; break;
    case Op::subtract: overflow = __builtin_sub_overflow(a, b, &r), sign = "-"; break;
    case Op::multiply: overflow = __builtin_mul_overflow(a, b, &r), sign = "*"; break;
    case Op::smaller: return {std::min(a, b), {}};
    case Op::larger: return {std::max(a, b), {}};
    default:
      if (b == 0) return {{}, fmt::format("{} / 0 is a division by zero", a)};
      if (b == -1) return combine(Op::subtract, 0, a);  // the smallest number has no opposite
      if (a % b != 0) return {{}, fmt::format("{} / {} leaves a remainder", a, b)};
      return {a / b, {}};
  }
  if (overflow) return {{}, fmt::format("{} {} {} does not fit into 64 bits", a, sign, b)};
  return {r, {}};
}

bool compare(const std::string& sign, int64_t a, int64_t b) {
  if (sign == "==") return a == b;
  if (sign == "!=") return a != b;
  if (sign == "<=") return a <= b;
  if (sign == ">=") return a >= b;
  return sign == "<" ? a < b : a > b;
}

}  // namespace

FormulaResult Formula::evaluate(const Spec& spec) const {
  if (op == Op::number) return {number, {}};
  if (op == Op::key) {
    if (!key->used_by(spec.workload.kind)) return {{}, fmt::format("a {} workload has no {}", name_of(spec.workload.kind), key->leaf())};
    return {*key->get(spec)->as<int64_t>(), {}};
  }
  const FormulaResult left = parts[0].evaluate(spec);
  if (!left.value) return left;
  if (op == Op::negate) return combine(Op::subtract, 0, *left.value);
  const FormulaResult right = parts[1].evaluate(spec);
  return right.value ? combine(op, *left.value, *right.value) : right;
}

void Formula::add_keys(std::vector<const Key*>& keys) const {
  if (key) keys.push_back(key);
  for (const Formula& part : parts) part.add_keys(keys);
}

bool Condition::holds(const Spec& spec) const {
  return std::all_of(all.begin(), all.end(), [&](const Comparison& c) {
    const FormulaResult left = c.left.evaluate(spec), right = c.right.evaluate(spec);
    return left.value && right.value && compare(c.sign, *left.value, *right.value);
  });
}

void Condition::add_keys(std::vector<const Key*>& keys) const {
  for (const Comparison& c : all) c.left.add_keys(keys), c.right.add_keys(keys);
}

Formula parse_formula(const std::string& text, const std::string& where) { return Parser(text, where).formula(); }
Condition parse_condition(const std::string& text, const std::string& where) { return Parser(text, where).condition(); }

}  // namespace erg
