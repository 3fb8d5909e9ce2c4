// How a sweep's child tells its parent how far it is: lines on stderr that no message looks like. And time left, in words.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace erg {

struct ChildProgress {
  std::string phase;
  double fraction = 0;
  std::string detail;
};

std::string progress_line(const ChildProgress& progress);  // without newline
std::optional<ChildProgress> parse_progress_line(std::string_view line);

std::string time_left(double seconds);  // "about 8 s left"

}  // namespace erg
