// Small readers of /proc and /sys, whose files may be missing: in containers, in virtual machines, on other architectures.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "store/record.hpp"

namespace erg::facts {

using Pairs = std::map<std::string, std::string>;
inline const std::string unknown = "unavailable";

std::string trimmed(std::string s);
std::string first_line(const std::string& path);          // trimmed, or unknown
Json number_in(const std::string& path);                  // the number in a file's first line, or unknown
Pairs pairs_in(const std::string& path, char separator);  // "key : value" or "KEY=value" lines; the first of each key
std::string value_or_unknown(const Pairs& pairs, const std::string& key);
std::string bracketed(const std::string& line);  // "always [madvise] never": the chosen one
std::vector<std::filesystem::path> numbered(const std::string& folder, const std::string& prefix);  // cpu0, cpu1 ...; not cpufreq

}  // namespace erg::facts
