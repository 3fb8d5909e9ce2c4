// Runs that hang: their own watchdog sees it, and the sweep above sees what a stopped process cannot.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faults.hpp"

namespace erg {
namespace {

using namespace test;
using testing::HasSubstr;

TEST(Hang, AStoppedChildIsATimeoutAndTheRestGoesOn) {
  Program ergometer;
  Started sweep(Words{"sweep", "gpt-tiny", "--device", "ref", "--axis", "measure.duration_s=1000,0.1", "--set", "measure.warmup_min_s=0",
                      "--set", "measure.settle_max_s=0", "--set", "measure.hang_min_s=0.2"},
                ergometer.results());
  ASSERT_TRUE(sweep.wait_for_line("1/2"));
  ASSERT_TRUE(ergometer.records().at(0).at("status") == "RUNNING");
  ASSERT_EQ(::kill(ergometer.records().at(0).at("process").at("pid"), SIGSTOP), 0);
  EXPECT_EQ(sweep.wait(), 1);
  const auto records = ergometer.records();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].at("status"), "TIMEOUT");
  EXPECT_THAT(records[0].at("status_reason").get<std::string>(), HasSubstr("hang_min_s = 0.2"));
  EXPECT_EQ(records[1].at("status"), "PASSED") << records[1].at("status_reason");
}

TEST(Hang, TheWholeRunMayHaveALimit) {
  Program ergometer;
  const ChildResult r =
      ergometer({"sweep", "gpt-tiny", "--device", "ref", "--set", "measure.duration_s=1000", "--set", "measure.limit_s=1"});
  EXPECT_EQ(r.exit_code, 1);
  const auto record = ergometer.records().at(0);
  EXPECT_EQ(record.at("status"), "TIMEOUT");
  EXPECT_THAT(record.at("tail").get<std::string>(), HasSubstr("TIMEOUT"));  // the child's own watchdog was first
  EXPECT_THAT(ergometer({"show"}).out, testing::AllOf(HasSubstr("TIMEOUT"), HasSubstr("its last words"), HasSubstr("limit_s = 1")));
}

// Nobody reads its stderr, and the pipe is full: the thread that trains hangs in a write. The watchdog must store what happened and end
// the process although it cannot say so.
TEST(Hang, AThreadStuckInTheKernelIsSeenByTheProcessItself) {
  Program ergometer;
  int pipe[2];
  ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
  ::fcntl(pipe[1], F_SETFL, O_NONBLOCK);
  const std::string filling(4096, 'x');
  while (::write(pipe[1], filling.data(), filling.size()) > 0) {}
  ::fcntl(pipe[1], F_SETFL, 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("ERGOMETER_RESULTS", ergometer.results().c_str(), 1);
    ::dup2(pipe[1], 2);
    ::execl(Program::path().c_str(), "ergometer", "run", "gpt-tiny", "--device", "ref", "--set", "measure.hang_min_s=0.05", "--record-id",
            "stuck", nullptr);
    ::_exit(127);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 1);
  const auto record = ergometer.records().at(0);
  EXPECT_EQ(record.at("status"), "TIMEOUT");
  EXPECT_THAT(record.at("status_reason").get<std::string>(), HasSubstr("no progress"));
  ::close(pipe[0]);
  ::close(pipe[1]);
}

}  // namespace
}  // namespace erg
