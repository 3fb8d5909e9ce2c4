// Child processes: own process group, killed with their parent, output captured or passed through, time limit, resource use.
// Their stdin is empty. When the child ends, what it left running in its group is killed too.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace erg {

struct ChildOptions {
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // NAME=value, added to ours or in place of ours
  double time_limit_s = 0;               // 0: none; then the whole group is killed
  std::function<bool()> give_up = {};    // asked about once a second; true: the whole group is killed
  bool ask_first = false;                // SIGTERM some seconds before the kill: a launcher takes its remote processes along
  bool capture_stdout = true, capture_stderr = true;
  std::function<void(std::string_view)> on_stderr_line;  // as it arrives, without its newline; stderr is then always captured
};

struct ChildResult {
  int exit_code = 0;  // valid when signal == 0
  int signal = 0;
  bool timed_out = false;   // by time_limit_s or give_up
  bool unkillable = false;  // it outlived SIGKILL, stuck in the kernel, and was left alone
  std::string out, err;     // err keeps at most its last 64 kB
  double wall_s = 0, user_s = 0, system_s = 0;
  long peak_rss_bytes = 0;  // Linux counts what we held when the child was forked, so a lower bound is ours
};

// Runs and waits. SIGINT and SIGTERM that reach us meanwhile are passed on to the child's group. Throws Error(failed) when it cannot start.
ChildResult run_child(const ChildOptions& options);

}  // namespace erg
