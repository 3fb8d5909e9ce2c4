// Walks up from the path that /proc/self/cgroup names. In a container that path may be the host's, which is not there: then only the root
// of the mount is, and its limits are the container's own.
#include "core/cgroup.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>

namespace erg {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::optional<int64_t> whole_number(std::string_view text) {
  int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(n) : std::nullopt;
}

void tighten(auto& limit, auto value) { limit = limit ? std::min(*limit, value) : value; }

void add_quota(CgroupLimits& limits, const std::string& quota, const std::string& period) {
  if (quota.empty()) return;
  limits.known = true;
  const auto q = whole_number(quota), p = whole_number(period);
  if (q && p && *q > 0 && *p > 0) tighten(limits.cpus, double(*q) / double(*p));
}

void add_memory(CgroupLimits& limits, const std::string& text) {
  if (text.empty()) return;
  limits.known = true;
  constexpr int64_t unlimited = int64_t(1) << 60;  // version 1 writes the largest number of whole pages
  if (const auto bytes = whole_number(text); bytes && *bytes < unlimited) tighten(limits.memory_bytes, *bytes);
}

}  // namespace

std::vector<std::string> cgroup_folders(const std::string& controller, bool v2, const std::string& root) {
  std::ifstream file(root + "/proc/self/cgroup");
  std::string path;
  for (std::string line; std::getline(file, line);) {  // "0::/path" in version 2, "4:memory:/path" in version 1
    const size_t a = line.find(':'), b = line.find(':', a + 1);
    if (a == std::string::npos || b == std::string::npos) continue;
    const std::string controllers = "," + line.substr(a + 1, b - a - 1) + ",";
    if (v2 ? controllers == ",," : controllers.find("," + controller + ",") != std::string::npos) path = line.substr(b + 1);
  }
  const std::string mount = root + "/sys/fs/cgroup";
  std::vector<std::string> folders;
  for (const std::string& top : v2 ? std::vector{mount, mount + "/unified"} : std::vector{mount + "/" + controller}) {
    for (std::string at = path; at.size() > 1; at.resize(at.rfind('/'))) folders.push_back(top + at);
    folders.push_back(top);
  }
  return folders;
}

CgroupLimits cgroup_limits(const std::string& root) {
  CgroupLimits limits;
  for (const std::string& folder : cgroup_folders("cpu", true, root)) {
    const std::string line = first_line(folder + "/cpu.max");  // "QUOTA PERIOD" or "max PERIOD", microseconds
    const size_t space = line.find(' ');
    add_quota(limits, line.substr(0, space), space == line.npos ? "" : line.substr(space + 1));
  }
  for (const std::string& folder : cgroup_folders("cpu", false, root))
    add_quota(limits, first_line(folder + "/cpu.cfs_quota_us"), first_line(folder + "/cpu.cfs_period_us"));
  for (const std::string& folder : cgroup_folders("memory", true, root)) add_memory(limits, first_line(folder + "/memory.max"));
  for (const std::string& folder : cgroup_folders("memory", false, root)) add_memory(limits, first_line(folder + "/memory.limit_in_bytes"));
  return limits;
}

}  // namespace erg
