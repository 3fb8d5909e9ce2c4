// Runs the real binary in a results folder of its own, to its end or with a hand on it.
#pragma once
#include <csignal>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "../store/sample_records.hpp"
#include "core/process.hpp"

namespace erg::test {

// A run of a few dozen steps: a fraction of a second with gpt-tiny on the reference engine.
inline const std::vector<std::string> brief = {"--set", "measure.warmup_min_s=0", "--set", "measure.settle_max_s=0.2",
                                               "--set", "measure.min_time_s=0.1", "--set", "measure.max_time_s=0.5"};

std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b);

// A started ergometer whose stderr is read line by line. Killed when it goes out of scope.
class Started {
 public:
  Started(const std::vector<std::string>& arguments, const std::string& results, const std::vector<std::string>& environment = {});
  ~Started();
  Started(const Started&) = delete;
  Started& operator=(const Started&) = delete;

  // Reads on until a line contains `text`; false at the end of the output.
  bool wait_for_line(const std::string& text);
  void signal(int number) const;
  int pid() const { return pid_; }
  int wait();  // exit code, or minus the signal that ended it

 private:
  int pid_ = -1, stderr_ = -1;
  std::string unread_;
};

class Program {
 public:
  ChildResult operator()(const std::vector<std::string>& arguments) const;
  nlohmann::json json(const std::vector<std::string>& arguments) const;  // of stdout; the program must end with 0
  std::vector<nlohmann::json> records() const;                           // as `list --json -` has them
  std::string results() const { return (folder_.path() / "results").string(); }
  std::filesystem::path folder() const { return folder_.path(); }
  static std::string path();
  std::vector<std::string> environment;  // NAME=value, for every start

 private:
  TemporaryFolder folder_;
};

}  // namespace erg::test
