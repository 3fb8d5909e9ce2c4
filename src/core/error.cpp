// The text of an Error, its exit code, and the search for the name a user probably meant.
#include "core/error.hpp"

#include <algorithm>
#include <vector>

namespace erg {
namespace {

std::string full_text(const std::string& message, const std::string& where, const std::string& fix) {
  std::string text = where.empty() ? message : where + ": " + message;
  if (!fix.empty()) text += "\n  fix: " + fix;
  return text;
}

// Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours (Damerau 1964) cost 1 each.
size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

}  // namespace

Error::Error(ErrorKind kind, const std::string& message, std::string where, std::string fix)
    : std::runtime_error(full_text(message, where, fix)), kind_(kind), message_(message), where_(std::move(where)), fix_(std::move(fix)) {}

int Error::exit_code() const {
  switch (kind_) {
    case ErrorKind::usage: return 2;
    case ErrorKind::unavailable: return 77;
    case ErrorKind::failed:
    case ErrorKind::out_of_memory: return 1;
  }
  return 1;
}

std::string nearest_name(const std::string& typo, std::span<const std::string> names) {
  // At most half the letters: more and every short name would be near every other.
  const size_t limit = std::min(std::max<size_t>(2, typo.size() / 3), typo.size() / 2);
  std::string nearest;
  size_t least = limit + 1;
  for (const std::string& name : names) {
    if (name.size() > typo.size() + limit || typo.size() > name.size() + limit) continue;
    if (const size_t distance = edit_distance(typo, name); distance < least) {
      least = distance;
      nearest = name;
    }
  }
  return nearest;
}

}  // namespace erg
