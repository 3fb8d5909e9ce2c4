// The live block: what it says in how many lines, and what really reaches a terminal.
#include "cli/live_sweep.hpp"

#include <gmock/gmock.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.hpp"

namespace erg {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Words = std::vector<std::string>;

LiveState cells(size_t n, size_t current) {
  LiveState state;
  for (size_t i = 0; i < n; ++i)
    state.cells.push_back({"p" + std::to_string(i + 1), i < current ? "PASSED" : i == current ? "running" : "", ""});
  state.current = current;
  state.last_line = "about 8 s left";
  return state;
}

TEST(LiveLines, ShowEveryPointInOrder) {
  LiveState state = cells(3, 1);
  state.cells[0].text = "12 tokens/s";
  EXPECT_THAT(live_lines(state, 24), ElementsAre("1/3 p1: PASSED, 12 tokens/s", "2/3 p2: running", "3/3 p3", "about 8 s left"));
}

TEST(LiveLines, KeepTheRunningPointInSightAndCountTheRest) {
  for (size_t current : {0u, 1u, 50u, 98u, 99u}) {
    const std::vector<std::string> lines = live_lines(cells(100, current), 10);
    EXPECT_EQ(lines.size(), 10u);
    EXPECT_THAT(lines, testing::Contains(HasSubstr(": running"))) << current;
    EXPECT_THAT(lines.front(), HasSubstr("before"));
    EXPECT_THAT(lines[8], HasSubstr("after"));
  }
  EXPECT_THAT(live_lines(cells(100, 99), 10)[0], "… 93 before");
  EXPECT_EQ(live_lines(cells(5, 0), 1).size(), 4u);  // a terminal that small cannot be helped
}

TEST(LiveLines, FinishedCellsSayTheirResult) {
  Record r = gpt_record("a", 1, 1234);
  r.flags = {{"busy_host", ""}};
  EXPECT_EQ(result_text(r), "1234 tokens/s ± 1.0 %, busy_host");
  r.status_reason = "two\n  lines";
  r.metrics.clear();
  EXPECT_EQ(result_text(r), "two; lines, busy_host");
}

// What the real program writes to a terminal of that many columns.
std::string on_terminal(const Program& ergometer, unsigned short columns, const char* no_color) {
  winsize size = {24, columns, 0, 0};
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    ::setenv("ERGOMETER_RESULTS", ergometer.results().c_str(), 1);
    ::setenv("TERM", "xterm", 1);
    ::setenv("NO_COLOR", no_color, 1);
    const std::string path = Program::path();
    ::execl(path.c_str(), path.c_str(), "sweep", "gpt-tiny", "--device", "ref", "--axis", "global_batch=1,2", "--set",
            "measure.warmup_min_s=0", "--set", "measure.settle_max_s=0", "--set", "measure.duration_s=0.2", nullptr);
    ::_exit(127);
  }
  std::string seen;
  char part[4096];
  for (ssize_t n; (n = ::read(terminal, part, sizeof part)) > 0;) seen.append(part, size_t(n));
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0) << seen;
  ::close(terminal);
  return seen;
}

TEST(LiveSweep, RedrawsItsBlockInPlace) {
  Program ergometer;
  const std::string seen = on_terminal(ergometer, 100, "");
  EXPECT_THAT(seen, HasSubstr("1/2 gpt-tiny global_batch=1: \x1b[36mrunning\x1b[0m"));
  EXPECT_THAT(seen, HasSubstr("2/2 gpt-tiny global_batch=2: \x1b[32mPASSED\x1b[0m"));
  EXPECT_THAT(seen, HasSubstr("\x1b[3A"));  // back over two points and the line below them
  EXPECT_THAT(seen, HasSubstr(" left"));
}

TEST(LiveSweep, HonoursNoColorAndTheWidth) {
  Program ergometer;
  const std::string seen = on_terminal(ergometer, 30, "1");
  EXPECT_THAT(seen, Not(HasSubstr("\x1b[32m")));
  EXPECT_THAT(seen, HasSubstr("1/2 gpt-tiny global_batch=1"));
  EXPECT_THAT(seen, Not(HasSubstr("global_batch=1: PASSED")));  // cut: 31 columns would be needed
  EXPECT_THAT(seen, HasSubstr("…"));
}

}  // namespace
}  // namespace erg
