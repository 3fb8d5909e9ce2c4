// fork and exec with everything prepared before the fork, then one poll loop over the child's output, its end and the time limit.
#include "core/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <optional>
#include <utility>

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/interrupt.hpp"

namespace erg {
namespace {

constexpr double ask_interval_s = 1, polite_s = 3, unkillable_s = 20;
constexpr size_t error_tail = 64 << 10;  // bytes of stderr kept, and the longest line handed over in one piece

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { close(); }
  int get() const { return fd_; }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

struct Pipe {
  Descriptor read, write;
};

Pipe make_pipe() {
  int fd[2];
  if (::pipe2(fd, O_CLOEXEC) != 0) throw Error(ErrorKind::failed, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  return {Descriptor(fd[0]), Descriptor(fd[1])};
}

std::vector<std::string> merged_environment(const std::vector<std::string>& added) {
  std::vector<std::string> all = added;
  const auto name = [](std::string_view entry) { return entry.substr(0, entry.find('=')); };
  for (char** entry = environ; *entry; ++entry)
    if (std::none_of(added.begin(), added.end(), [&](const std::string& a) { return name(a) == name(*entry); })) all.emplace_back(*entry);
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> p;
  for (std::string& s : strings) p.push_back(s.data());
  p.push_back(nullptr);
  return p;
}

// What the forked child does: only async-signal-safe calls, because other threads may have held locks.
[[noreturn]] void become(char* const* argv, char* const* environment, int out, int err, int report, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // the parent died before the line above
  struct sigaction normal {};
  normal.sa_handler = SIG_DFL;
  for (int s : {SIGINT, SIGTERM, SIGPIPE}) ::sigaction(s, &normal, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int empty = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (empty >= 0 && ::dup2(empty, 0) >= 0 && (out < 0 || ::dup2(out, 1) >= 0) && (err < 0 || ::dup2(err, 2) >= 0))
    ::execvpe(argv[0], argv, environment);
  const int reason = errno;
  (void)!::write(report, &reason, sizeof reason);  // the pipe is closed by a successful exec: silence means success
  ::_exit(127);
}

// Blocks SIGINT and SIGTERM in this thread, so that none is lost between the fork and the forwarding.
class BlockedInterrupts {
 public:
  BlockedInterrupts() {
    sigset_t both;
    sigemptyset(&both);
    sigaddset(&both, SIGINT);
    sigaddset(&both, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &both, &old_);
  }
  ~BlockedInterrupts() { ::pthread_sigmask(SIG_SETMASK, &old_, nullptr); }

 private:
  sigset_t old_;
};

class Child {
 public:
  Child(const ChildOptions& options, int out, int err) {
    std::vector<std::string> arguments = options.argv, environment = merged_environment(options.environment);
    const std::vector<char*> argv = pointers(arguments), envp = pointers(environment);
    Pipe report = make_pipe();
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) become(argv.data(), envp.data(), out, err, report.write.get(), parent);
    if (pid_ < 0) throw cannot_start(options, errno);
    ::setpgid(pid_, pid_);  // in both, so that the group exists whoever runs first
    report.write.close();
    int reason = 0;
    ssize_t n;
    while ((n = ::read(report.read.get(), &reason, sizeof reason)) < 0 && errno == EINTR) {}
    if (n > 0) {
      reap();
      throw cannot_start(options, reason);
    }
    end_ = Descriptor(int(::syscall(SYS_pidfd_open, pid_, 0)));  // -1 on kernels before 5.3: then we look every 50 ms
  }
  ~Child() { kill_and_reap(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int group() const { return pid_; }
  int end_descriptor() const { return end_.get(); }

  bool ended() const {
    siginfo_t info{};
    return ::waitid(P_PID, id_t(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_;
  }
  void signal_group(int signal) const { ::kill(-pid_, signal); }
  void abandon() { pid_ = -1; }

  // The group goes before the leader is reaped: as long as it is a zombie, nobody else can get its number.
  std::pair<int, rusage> kill_and_reap() {
    if (pid_ <= 0) return {};
    signal_group(SIGKILL);
    return reap();
  }

 private:
  std::pair<int, rusage> reap() {
    int status = 0;
    rusage usage{};
    while (::wait4(pid_, &status, 0, &usage) < 0 && errno == EINTR) {}
    pid_ = -1;
    return {status, usage};
  }
  static Error cannot_start(const ChildOptions& options, int reason) {
    return Error(ErrorKind::failed, fmt::format("cannot start the program: {}", std::strerror(reason)), options.argv[0]);
  }

  pid_t pid_ = -1;
  Descriptor end_;
};

// One of the child's output streams: what has been read of it, and whether more can come.
class Stream {
 public:
  explicit Stream(Descriptor fd) : fd_(std::move(fd)) {
    if (fd_.get() >= 0) ::fcntl(fd_.get(), F_SETFL, O_NONBLOCK);
  }
  int descriptor() const { return fd_.get(); }

  // What there is just now, handed to `take` in parts. At most 1 MB, more than a pipe holds, so that an endless writer
  // cannot keep us from looking at the clock.
  template <class Take>
  void drain(const Take& take) {
    char part[1 << 14];
    for (int parts = 0; fd_.get() >= 0 && parts < 64; ++parts) {
      const ssize_t n = ::read(fd_.get(), part, sizeof part);
      if (n > 0)
        take(std::string_view(part, size_t(n)));
      else if (n < 0 && errno == EINTR)
        continue;
      else if (n < 0 && errno == EAGAIN)
        return;
      else
        fd_.close();
    }
  }

 private:
  Descriptor fd_;
};

// Cuts a stream into lines for a callback.
class Lines {
 public:
  explicit Lines(const std::function<void(std::string_view)>& callback) : callback_(callback) {}
  void add(std::string_view part) {
    if (!callback_) return;
    for (size_t end; (end = part.find('\n')) != part.npos; part.remove_prefix(end + 1)) {
      line_ += part.substr(0, end);
      flush();
    }
    line_ += part;
    if (line_.size() > error_tail) flush();
  }
  void finish() {
    if (!line_.empty()) flush();
  }

 private:
  void flush() {
    callback_(line_);
    line_.clear();
  }
  const std::function<void(std::string_view)>& callback_;
  std::string line_;
};

}  // namespace

ChildResult run_child(const ChildOptions& options) {
  if (options.argv.empty()) throw Error(ErrorKind::failed, "no program to start was given");
  const double start = steady_clock().now();
  const double deadline = options.time_limit_s > 0 ? start + options.time_limit_s : HUGE_VAL;
  Pipe out_pipe, err_pipe;
  if (options.capture_stdout) out_pipe = make_pipe();
  if (options.capture_stderr || options.on_stderr_line) err_pipe = make_pipe();

  ChildResult result;
  Lines lines(options.on_stderr_line);
  const auto take_out = [&](std::string_view part) { result.out += part; };
  const auto take_err = [&](std::string_view part) {
    lines.add(part);
    result.err += part;
    if (result.err.size() > 2 * error_tail) result.err.erase(0, result.err.size() - error_tail);
  };

  const ScopedInterruptHandlers handlers;
  std::optional<BlockedInterrupts> blocked(std::in_place);
  Child child(options, out_pipe.write.get(), err_pipe.write.get());
  std::optional<InterruptForwarding> forwarding(std::in_place, child.group());
  if (interrupted()) ::kill(-child.group(), interrupt_signal());  // one that came before there was a group to pass it on to
  blocked.reset();
  out_pipe.write.close();
  err_pipe.write.close();
  Stream out(std::move(out_pipe.read)), err(std::move(err_pipe.read));

  double next_question = start, kill_at = HUGE_VAL, abandon_at = HUGE_VAL;
  while (!child.ended()) {
    const double now = steady_clock().now();
    if (!result.timed_out && (now >= deadline || (options.give_up && now >= next_question && options.give_up()))) {
      result.timed_out = true;
      kill_at = options.ask_first ? now + polite_s : now;
      if (options.ask_first) child.signal_group(SIGTERM);
    }
    if (now >= next_question) next_question = now + ask_interval_s;
    if (now >= kill_at) {
      child.signal_group(SIGKILL);
      kill_at = HUGE_VAL;
      abandon_at = now + unkillable_s;
    }
    if (now >= abandon_at) {
      result.unkillable = true;
      break;
    }
    double wake = std::min(kill_at, abandon_at);
    if (!result.timed_out) wake = std::min({wake, deadline, options.give_up ? next_question : HUGE_VAL});
    const double longest = child.end_descriptor() >= 0 ? 3600.0 : 0.05;
    const int wait_ms = int(std::ceil(1000 * std::clamp(wake - now, 0.0, longest)));
    pollfd watched[] = {{out.descriptor(), POLLIN, 0}, {err.descriptor(), POLLIN, 0}, {child.end_descriptor(), POLLIN, 0}};
    ::poll(watched, std::size(watched), wait_ms);
    out.drain(take_out);
    err.drain(take_err);
  }
  result.wall_s = steady_clock().now() - start;
  forwarding.reset();  // before the number of the group can become somebody else's
  child.signal_group(SIGKILL);
  out.drain(take_out);
  err.drain(take_err);
  lines.finish();
  if (result.err.size() > error_tail) {  // from the beginning of a line: a cut may fall inside a character
    result.err.erase(0, result.err.size() - error_tail);
    result.err.erase(0, result.err.find('\n') + 1);
  }

  if (result.unkillable) {
    child.abandon();
    result.signal = SIGKILL;
    return result;
  }
  const auto [status, usage] = child.kill_and_reap();
  if (WIFSIGNALED(status))
    result.signal = WTERMSIG(status);
  else
    result.exit_code = WEXITSTATUS(status);
  const auto seconds = [](const timeval& t) { return double(t.tv_sec) + 1e-6 * double(t.tv_usec); };
  result.user_s = seconds(usage.ru_utime);
  result.system_s = seconds(usage.ru_stime);
  result.peak_rss_bytes = usage.ru_maxrss * 1024;
  return result;
}

}  // namespace erg
