// What is missing or empty is "unavailable".
#include "run/fact_files.hpp"

#include <algorithm>
#include <fstream>

namespace erg::facts {

namespace fs = std::filesystem;

std::string trimmed(std::string s) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\0'; };
  while (!s.empty() && blank(s.back())) s.pop_back();
  s.erase(0, size_t(std::find_if_not(s.begin(), s.end(), blank) - s.begin()));
  return s;
}

std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  line = trimmed(line);
  return line.empty() ? unknown : line;
}

Json number_in(const std::string& path) {
  std::ifstream in(path);
  int64_t n;
  return in >> n ? Json(n) : Json(unknown);
}

Pairs pairs_in(const std::string& path, char separator) {
  Pairs pairs;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    const size_t at = line.find(separator);
    if (at == std::string::npos) continue;
    std::string value = trimmed(line.substr(at + 1));
    if (value.size() > 1 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    pairs.emplace(trimmed(line.substr(0, at)), value);
  }
  return pairs;
}

std::string value_or_unknown(const Pairs& pairs, const std::string& key) {
  const auto found = pairs.find(key);
  return found == pairs.end() || found->second.empty() ? unknown : found->second;
}

std::string bracketed(const std::string& line) {
  const size_t open = line.find('['), close = line.find(']', open);
  return open == std::string::npos || close == std::string::npos ? line : line.substr(open + 1, close - open - 1);
}

std::vector<fs::path> numbered(const std::string& folder, const std::string& prefix) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    if (name.size() > prefix.size() && name.starts_with(prefix) && name.find_first_not_of("0123456789", prefix.size()) == name.npos)
      found.push_back(entry.path());
  }
  return found;
}

}  // namespace erg::facts
