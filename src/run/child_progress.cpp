// "\x1e" (ASCII record separator), then phase, fraction and detail between "\x1f" (unit separators).
#include "run/child_progress.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "core/units.hpp"

namespace erg {

std::string progress_line(const ChildProgress& p) { return fmt::format("\x1e{}\x1f{:.4f}\x1f{}", p.phase, p.fraction, p.detail); }

std::optional<ChildProgress> parse_progress_line(std::string_view line) {
  if (line.empty() || line[0] != '\x1e') return std::nullopt;
  const size_t first = line.find('\x1f'), second = line.find('\x1f', first + 1);
  if (first == line.npos || second == line.npos) return std::nullopt;
  return ChildProgress{std::string(line.substr(1, first - 1)), std::atof(std::string(line.substr(first + 1, second - first - 1)).c_str()),
                       std::string(line.substr(second + 1))};
}

std::string time_left(double seconds) {
  const double whole = std::ceil(seconds);
  return fmt::format("about {} left", whole < 60 ? fmt::format("{:.0f} s", whole) : duration(whole));
}

}  // namespace erg
