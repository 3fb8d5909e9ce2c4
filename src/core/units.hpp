// Numbers for people: SI prefixes, durations, intervals. Data never goes through here.
#pragma once
#include <cstdint>
#include <string>

namespace erg {

std::string si(double value, const char* unit, int digits = 3);  // si(4.47e11, "FLOP/s") = "447 GFLOP/s"
std::string significant(double value, int digits = 4);           // 16.10, 0.001234, never an exponent between 1e-4 and 1e7
std::string duration(double seconds);                            // "4.2 ms", "12.3 s", "3 min 05 s"
std::string bytes_text(double bytes);                            // "1.54 GB" (10^9)

}  // namespace erg
