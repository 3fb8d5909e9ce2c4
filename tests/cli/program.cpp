// fork and exec of the binary under test.
#include "program.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace erg::test {

std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::string Program::path() { return std::string(ERG_BINARY_DIR) + "/bin/ergometer"; }

Started::Started(const std::vector<std::string>& arguments, const std::string& results, const std::vector<std::string>& environment) {
  std::vector<std::string> added = environment;
  std::vector<std::string> words = std::vector<std::string>{Program::path()} + arguments;
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) std::abort();
  pid_ = ::fork();
  if (pid_ == 0) {
    ::setenv("ERGOMETER_RESULTS", results.c_str(), 1);
    for (std::string& entry : added) ::putenv(entry.data());
    ::dup2(::open("/dev/null", O_RDWR), 1);
    ::dup2(pipe[1], 2);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ::close(pipe[1]);
  stderr_ = pipe[0];
}

Started::~Started() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    wait();
  }
  ::close(stderr_);
}

bool Started::wait_for_line(const std::string& text) {
  for (;;) {
    for (size_t end; (end = unread_.find('\n')) != std::string::npos;) {
      const std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      if (line.find(text) != std::string::npos) return true;
    }
    char part[4096];
    const ssize_t n = ::read(stderr_, part, sizeof part);
    if (n <= 0) return false;
    unread_.append(part, size_t(n));
  }
}

void Started::signal(int number) const { ::kill(pid_, number); }

int Started::wait() {
  while (wait_for_line(std::string(1, '\0'))) {}  // a full pipe would hold it up
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

ChildResult Program::operator()(const std::vector<std::string>& arguments) const {
  ChildOptions options;
  options.argv = std::vector<std::string>{path()} + arguments;
  options.environment = environment;
  // No sensors but those that a test makes, whatever machine this is.
  for (const std::string& ours : {"ERGOMETER_RESULTS=" + results(), "ERGOMETER_SYSFS_ROOT=" + (folder() / "sys").string()})
    options.environment.push_back(ours);
  return run_child(options);
}

nlohmann::json Program::json(const std::vector<std::string>& arguments) const {
  const ChildResult r = (*this)(arguments + std::vector<std::string>{"--json", "-"});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  return nlohmann::json::parse(r.out);
}

std::vector<nlohmann::json> Program::records() const { return json({"list"}).at("runs"); }

}  // namespace erg::test
