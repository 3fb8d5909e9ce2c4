// No shell is involved: what the template says is what is started.
#include "run/launcher.hpp"

#include <fmt/format.h>

#include <optional>

#include "core/error.hpp"

namespace erg {
namespace {

Error wrong(const std::string& what, const std::string& fix) { return Error(ErrorKind::usage, what, "--launcher", fix); }

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  std::optional<std::string> word;
  char quote = 0;
  for (const char c : text) {
    if (quote ? c == quote : c == '\'' || c == '"') {
      quote = quote ? 0 : c;
      if (!word) word.emplace();
    } else if (!quote && (c == ' ' || c == '\t' || c == '\n')) {
      if (word) words.push_back(*word);
      word.reset();
    } else {
      if (!word) word.emplace();
      *word += c;
    }
  }
  if (quote) throw wrong(fmt::format("a quote is not closed: {}", text), fmt::format("add a {}", quote));
  if (word) words.push_back(*word);
  return words;
}

std::string filled(const std::string& word, const LauncherFacts& facts) {
  std::string text;
  for (size_t at = 0; at < word.size();) {
    const size_t open = word.find('{', at), close = word.find('}', open);
    text += word.substr(at, open - at);
    if (open == word.npos) break;
    const std::string name = close == word.npos ? word.substr(open) : word.substr(open + 1, close - open - 1);
    if (name == "devices")
      text += std::to_string(facts.devices);
    else if (name == "point")
      text += std::to_string(facts.point + 1);
    else if (name == "id")
      text += facts.id;
    else
      throw wrong(fmt::format("unknown placeholder {{{}}}", name), "the placeholders are {devices}, {point}, {id}");
    at = close + 1;
  }
  return text;
}

}  // namespace

std::vector<std::string> launcher_words(const std::string& text, const LauncherFacts& facts) {
  std::vector<std::string> words = split(text);
  for (std::string& word : words) word = filled(word, facts);
  return words;
}

}  // namespace erg
