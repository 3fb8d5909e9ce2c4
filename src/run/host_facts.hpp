// Facts about this host from /proc, /sys and /etc (harness.md §7). What can't be read is "unavailable", never 0 and never a guess.
#pragma once
#include <string>

#include "run/fact_files.hpp"
#include "store/record.hpp"

namespace erg {

// Groups: host, cpu, memory, limits. root stands before the absolute paths, for tests.
Json host_facts(const std::string& root = "");

// The group cpu; cpuinfo: the pairs of /proc/cpuinfo.
Json cpu_facts(const std::string& root, const facts::Pairs& cpuinfo);

// Governors of the given root's CPUs: "performance", "powersave schedutil" when they differ, or "unavailable".
std::string governor(const std::string& root = "");

}  // namespace erg
