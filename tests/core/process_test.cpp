// Child processes, with /bin/sh as the child.
#include "core/process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <set>

#include "core/error.hpp"
#include "core/interrupt.hpp"

namespace erg {
namespace fs = std::filesystem;
namespace {

ChildOptions shell(const std::string& script) { return {.argv = {"sh", "-c", script}, .environment = {}, .on_stderr_line = {}}; }

std::set<int> open_descriptors() {
  std::set<int> fds;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) fds.insert(std::stoi(entry.path().filename()));
  std::erase_if(fds, [](int fd) { return ::fcntl(fd, F_GETFD) < 0; });  // the iterator's own
  return fds;
}

TEST(Process, CapturesOutputAndCode) {
  const ChildResult r = run_child(shell("echo out; echo err >&2; exit 3"));
  EXPECT_EQ(r.out, "out\n");
  EXPECT_EQ(r.err, "err\n");
  EXPECT_EQ(r.exit_code, 3);
  EXPECT_EQ(r.signal, 0);
  EXPECT_FALSE(r.timed_out);
  EXPECT_GT(r.wall_s, 0);
  EXPECT_GT(r.peak_rss_bytes, 100'000);
}

TEST(Process, DeathBySignal) {
  const ChildResult r = run_child(shell("kill -SEGV $$"));
  EXPECT_EQ(r.signal, SIGSEGV);
}

TEST(Process, EnvironmentIsAddedToOurs) {
  ::setenv("ERG_TEST_OURS", "old", 1);
  ::setenv("ERG_TEST_KEPT", "kept", 1);
  ChildOptions options = shell("echo $ERG_TEST_OURS $ERG_TEST_KEPT $ERG_TEST_NEW; env | grep -c ERG_TEST_OURS");
  options.environment = {"ERG_TEST_OURS=replaced", "ERG_TEST_NEW=new"};
  EXPECT_EQ(run_child(options).out, "replaced kept new\n1\n");
}

TEST(Process, StdinIsEmpty) { EXPECT_EQ(run_child(shell("cat; echo end")).out, "end\n"); }

TEST(Process, StderrLinesArriveWhileTheChildRuns) {
  // The child waits for our answer to its first line, so the test ends only if lines do not wait for the child's end.
  char name[] = "/tmp/erg-process-XXXXXX";
  const fs::path folder = ::mkdtemp(name);
  const std::string fifo = folder / "answer";
  std::vector<std::string> lines;
  ChildOptions options = shell("mkfifo " + fifo + "; echo first >&2; read x < " + fifo + "; echo got $x >&2; printf rest >&2");
  options.on_stderr_line = [&](std::string_view line) {
    lines.emplace_back(line);
    if (line != "first") return;
    const int fd = ::open(fifo.c_str(), O_WRONLY);
    EXPECT_EQ(::write(fd, "answer\n", 7), 7);
    ::close(fd);
  };
  const ChildResult r = run_child(options);
  EXPECT_EQ(lines, (std::vector<std::string>{"first", "got answer", "rest"}));
  EXPECT_EQ(r.err, "first\ngot answer\nrest");
  fs::remove_all(folder);
}

TEST(Process, LargeOutputDoesNotBlock) {
  const ChildResult r = run_child(shell("head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2"));
  EXPECT_EQ(r.out.size(), 1'000'000u);
  EXPECT_EQ(r.err.size(), 64u << 10);  // its tail
}

// Only the last 64 kB are kept, from the beginning of a line: never a part of a character.
TEST(Process, TheTailOfStderrBeginsWithALine) {
  const ChildResult r = run_child(shell("i=0; while [ $i -lt 9000 ]; do echo '1 ± 2 ±±±±' >&2; i=$((i+1)); done"));
  EXPECT_LE(r.err.size(), 65536u);
  EXPECT_GT(r.err.size(), 60000u);
  EXPECT_EQ(r.err.substr(0, 3), "1 \xc2");
}

TEST(Process, TimeLimitKillsTheWholeGroup) {
  ChildOptions options = shell("yes & sleep 1000; echo late");  // a busy grandchild, and one more
  options.time_limit_s = 0.05;
  const ChildResult r = run_child(options);
  EXPECT_TRUE(r.timed_out);
  EXPECT_EQ(r.signal, SIGKILL);
}

// A stopped child can do nothing for itself: only who watches it from outside ends it.
TEST(Process, GivingUpEndsAStoppedChild) {
  ChildOptions options = shell("kill -STOP $$; echo late");
  options.give_up = [] { return true; };
  const ChildResult r = run_child(options);
  EXPECT_TRUE(r.timed_out);
  EXPECT_FALSE(r.unkillable);
  EXPECT_EQ(r.signal, SIGKILL);
  EXPECT_EQ(r.out, "");
}

TEST(Process, AskedFirstItMayCleanUp) {
  bool ready = false;
  ChildOptions options = shell("trap 'echo cleaned; exit 4' TERM; echo ready >&2; sleep 1000 & wait");
  options.on_stderr_line = [&](std::string_view) { ready = true; };
  options.give_up = [&] { return ready; };
  options.ask_first = true;
  const ChildResult r = run_child(options);
  EXPECT_TRUE(r.timed_out);
  EXPECT_EQ(r.out, "cleaned\n");
  EXPECT_EQ(r.exit_code, 4);
}

TEST(Process, WhatTheChildLeavesRunningIsKilled) {
  int fd[2];
  ASSERT_EQ(::pipe(fd), 0);  // inherited on purpose: its read end sees the end of file when the last heir is gone
  run_child(shell("sleep 1000 &"));
  ::close(fd[1]);
  char c;
  EXPECT_EQ(::read(fd[0], &c, 1), 0);
  ::close(fd[0]);
}

TEST(Process, DiesWithItsParent) {
  int fd[2];
  ASSERT_EQ(::pipe(fd), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    ::close(fd[0]);
    run_child(shell("echo x >&" + std::to_string(fd[1]) + "; exec sleep 1000"));
    ::_exit(0);
  }
  ::close(fd[1]);
  char c[2];
  ASSERT_EQ(::read(fd[0], c, 2), 2);  // it runs
  ::kill(parent, SIGKILL);
  EXPECT_EQ(::read(fd[0], c, 1), 0);  // and is gone: nobody holds the pipe any more
  ::waitpid(parent, nullptr, 0);
  ::close(fd[0]);
}

TEST(Process, SignalsArePassedOn) {
  std::signal(SIGINT, SIG_DFL);  // shells start background jobs with SIGINT ignored
  const ChildResult r = run_child(shell("trap 'echo cleaned; exit 5' INT; kill -INT $PPID; sleep 1000 & wait"));
  EXPECT_EQ(r.out, "cleaned\n");
  EXPECT_EQ(r.exit_code, 5);
  EXPECT_EQ(interrupt_signal(), SIGINT);
  reset_interrupt();
}

TEST(Process, NoDescriptorLeaks) {
  const std::set<int> before = open_descriptors();
  size_t inheritable = 0;
  for (int fd : before) inheritable += fd > 2 && !(::fcntl(fd, F_GETFD) & FD_CLOEXEC);
  const ChildResult r = run_child({.argv = {"ls", "/proc/self/fd"}, .environment = {}, .on_stderr_line = {}});
  EXPECT_EQ(size_t(std::count(r.out.begin(), r.out.end(), '\n')), 3 + inheritable + 1) << r.out;  // and the one ls reads with
  EXPECT_THROW(run_child({.argv = {"/no/such/program"}, .environment = {}, .on_stderr_line = {}}), Error);
  EXPECT_EQ(open_descriptors(), before);
}

TEST(Process, CannotStart) {
  try {
    run_child({.argv = {"/no/such/program"}, .environment = {}, .on_stderr_line = {}});
    FAIL() << "started a program that is not there";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::failed);
    EXPECT_EQ(e.where(), "/no/such/program");
    EXPECT_EQ(e.message(), "cannot start the program: No such file or directory");
  }
  EXPECT_THROW(run_child({}), Error);
}

TEST(Process, AThrowingCallbackLeavesNothingBehind) {
  ChildOptions options = shell("echo x >&2; sleep 1000");
  options.on_stderr_line = [](std::string_view) { throw std::runtime_error("stop"); };
  EXPECT_THROW(run_child(options), std::runtime_error);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);  // no child is left, not even a zombie
}

}  // namespace
}  // namespace erg
