// Numbers for people. Every function rounds first and chooses prefix, decimals or unit from the rounded value,
// so that 999.96 never prints as "1000 M".
#include "core/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace erg {
namespace {

// Decimal exponent of value rounded to `digits` significant digits: 999.96 with 3 has 3.
int rounded_exponent(double value, int digits) {
  const std::string text = fmt::format("{:.{}e}", value, digits - 1);
  return std::atoi(text.c_str() + text.find('e') + 1);
}

std::string with_digits(double value, int digits, int exponent) {
  return fmt::format("{:.{}f}", value, std::max(0, digits - 1 - exponent));
}

}  // namespace

std::string si(double value, const char* unit, int digits) {
  static constexpr std::array prefixes = {"n", "µ", "m", "", "k", "M", "G", "T", "P", "E"};  // 1e-9 ... 1e18
  if (!std::isfinite(value) || value == 0) return fmt::format("{} {}", value, unit);
  const int exponent = rounded_exponent(value, digits);
  const int thousands = std::clamp(int(std::floor(exponent / 3.0)), -3, 6);
  return fmt::format("{} {}{}", with_digits(value / std::pow(1000.0, thousands), digits, exponent - 3 * thousands),
                     prefixes[size_t(thousands + 3)], unit);
}

std::string significant(double value, int digits) {
  if (!std::isfinite(value) || value == 0) return fmt::format("{}", value);
  const int exponent = rounded_exponent(value, digits);
  if (exponent < -4 || exponent >= 7) return fmt::format("{:.{}e}", value, digits - 1);
  return with_digits(value, digits, exponent);
}

std::string duration(double seconds) {
  if (!std::isfinite(seconds)) return fmt::format("{} s", seconds);
  if (seconds < 0) return fmt::format("-{}", duration(-seconds));
  if (seconds == 0) return "0 s";
  const auto tenths = [](double v) { return std::round(v * 10) / 10; };
  for (const auto& [scale, unit] : {std::pair{1e9, "ns"}, {1e6, "µs"}, {1e3, "ms"}})
    if (tenths(seconds * scale) < 1000) return fmt::format("{:.1f} {}", seconds * scale, unit);
  if (tenths(seconds) < 60) return fmt::format("{:.1f} s", seconds);
  const double whole = std::round(seconds);
  if (whole < 3600) return fmt::format("{:.0f} min {:02.0f} s", std::floor(whole / 60), std::fmod(whole, 60));
  const double minutes = std::round(seconds / 60);
  return fmt::format("{:.0f} h {:02.0f} min", std::floor(minutes / 60), std::fmod(minutes, 60));
}

std::string bytes_text(double bytes) { return std::abs(bytes) < 1000 ? fmt::format("{:.0f} B", bytes) : si(bytes, "B"); }

}  // namespace erg
