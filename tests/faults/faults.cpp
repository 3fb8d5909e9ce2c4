// Looking at a results folder and at /proc from outside.
#include "faults.hpp"

#include <unistd.h>

#include <algorithm>

#include "core/clock.hpp"
#include "core/file.hpp"
#include "store/files.hpp"

namespace erg::test {
namespace fs = std::filesystem;
namespace {

std::string text_of(const fs::path& path) {
  try {
    return read_file(path);
  } catch (const std::exception&) { return {}; }
}

bool zombie(const std::string& pid) {
  const std::string stat = text_of("/proc/" + pid + "/stat");
  const size_t end = stat.rfind(')');
  return end == std::string::npos || stat.compare(end, 4, ") Z ") == 0 || stat.compare(end, 4, ") X ") == 0;
}

std::vector<int> processes_with(const std::string& text) {
  std::vector<int> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string pid = entry.path().filename();
    if (pid.find_first_not_of("0123456789") != std::string::npos || pid == std::to_string(::getpid())) continue;
    if (text_of(entry.path() / "cmdline").find(text) != std::string::npos && !zombie(pid)) found.push_back(std::stoi(pid));
  }
  return found;
}

}  // namespace

std::map<std::string, std::string> record_texts(const std::string& results) {
  std::map<std::string, std::string> texts;
  for (const std::string& id : stored_ids(results)) texts[id] = text_of(record_path(results, id));
  return texts;
}

std::vector<int> survivors(const std::string& text) {
  std::vector<int> found;
  for (int tries = 0; tries < 100 && !(found = processes_with(text)).empty(); ++tries) steady_clock().sleep(0.05);
  return found;
}

int wait_for_child(const Program& ergometer, const std::string& id_end) {
  for (;; steady_clock().sleep(0.02))
    for (const auto& [id, text] : record_texts(ergometer.results())) {
      if (!id.ends_with(id_end)) continue;
      const nlohmann::json r = nlohmann::json::parse(text);
      if (r.at("status") == "RUNNING" && r.at("process").contains("sweep")) return r.at("process").at("pid");
    }
}

std::map<std::string, int> passed_by_point(const std::vector<nlohmann::json>& records, const std::string& sweep_id) {
  std::map<std::string, int> passed;
  for (const auto& r : records)
    if (r.at("sweep_id") == sweep_id)
      passed[r.at("coordinates").dump() + r.at("spec").at("repeat_index").dump()] += r.at("status") == "PASSED";
  return passed;
}

}  // namespace erg::test
