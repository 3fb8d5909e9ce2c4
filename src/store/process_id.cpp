// Process identity from /proc: a pid alone is reused, a pid with its start time and the boot id is not.
#include "store/process_id.hpp"

#include <unistd.h>

#include <fstream>
#include <iterator>
#include <type_traits>

namespace erg {
namespace {

std::string boot_id() {
  std::ifstream in("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(in, id);
  return id;
}

// Field 22 of /proc/PID/stat, counted after the command's closing parenthesis because the command may hold blanks. -1: no such process.
// A zombie has ended: it only waits to be reaped.
long long start_ticks(long pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const size_t end = text.rfind(')');
  if (end == std::string::npos) return -1;
  std::string field;
  size_t at = end + 2;
  for (int i = 3; i <= 22 && at < text.size(); ++i) {
    const size_t blank = text.find(' ', at);
    field = text.substr(at, blank - at);
    if (i == 3 && (field == "Z" || field == "X")) return -1;
    at = blank == std::string::npos ? text.size() : blank + 1;
  }
  return std::atoll(field.c_str());
}

// Of a record, which may hold anything.
template <class T>
T field(const Json& object, const char* key, T otherwise) {
  const auto at = object.find(key);
  if (at == object.end()) return otherwise;
  if constexpr (std::is_same_v<T, std::string>)
    return at->is_string() ? at->get<std::string>() : otherwise;
  else
    return at->is_number_integer() ? at->get<T>() : otherwise;
}

}  // namespace

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && name[0] ? name : "unknown";
}

Json this_process() {
  const long pid = ::getpid();
  return {{"pid", pid}, {"pid_started", start_ticks(pid)}, {"host", host_name()}, {"boot_id", boot_id()}};
}

bool certainly_dead(const Json& process) {
  if (!process.is_object() || field<std::string>(process, "host", "") != host_name()) return false;
  const std::string boot = field<std::string>(process, "boot_id", "");
  if (boot.empty()) return false;
  if (boot != boot_id()) return true;  // this host has been started anew since
  const long pid = field<long>(process, "pid", 0);
  if (pid <= 0) return false;
  const long long now = start_ticks(pid);
  return now < 0 || now != field<long long>(process, "pid_started", now);
}

bool certainly_abandoned(const Json& process) {
  if (!certainly_dead(process)) return false;
  return !process.contains("sweep") || certainly_dead(process.at("sweep"));
}

}  // namespace erg
