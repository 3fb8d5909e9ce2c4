// Printed text, held against golden texts; the status line on a pipe-like file and on a pseudo-terminal.
#include "core/terminal.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace erg {
namespace {

Table example() {
  Table table({{"workload", false}, {"batch"}, {"images/s"}});
  table.add({"resnet50", "4", "13.20 ± 0.10"});
  table.add({"größer", "128", "16.1"});
  table.add({"日本", "8"});
  return table;
}

TEST(Table, TextColumnsFitTheirContent) {
  EXPECT_EQ(example().text(),
            "workload  batch      images/s\n"
            "────────  ─────  ────────────\n"
            "resnet50      4  13.20 ± 0.10\n"
            "größer      128          16.1\n"
            "日本          8\n");
}

TEST(Table, Markdown) {
  Table table({{"a", false}, {"b"}});
  table.add({"x|y", "1"});
  EXPECT_EQ(table.markdown(), "| a | b |\n| --- | ---: |\n| x\\|y | 1 |\n");
}

TEST(Table, CsvQuotesAsRfc4180) {
  Table table({{"a", false}, {"b, c"}});
  table.add({"say \"hi\"", "1.5"});
  table.add({"two\nlines"});
  EXPECT_EQ(table.csv(), "a,\"b, c\"\n\"say \"\"hi\"\"\",1.5\n\"two\nlines\",\n");
}

TEST(Table, InvalidUtf8IsOneColumnAByte) {
  Table table({{"a"}});
  table.add({"\xff\xc3"});
  table.add({"123"});
  EXPECT_EQ(table.text(), "  a\n───\n \xff\xc3\n123\n");
}

std::string written(std::FILE* file) {
  std::rewind(file);
  std::string text(4096, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  return text;
}

TEST(StatusLine, PlainLinesAtMostEveryTenSecondsOnAFile) {
  std::FILE* file = std::tmpfile();
  {
    StatusLine status(file);
    status.update("warm-up");
    status.update("too soon to be printed");
    status.message("note");
  }
  EXPECT_EQ(written(file), "warm-up\nnote\n");
  std::fclose(file);
}

TEST(StatusLine, QuietPrintsMessagesOnly) {
  std::FILE* file = std::tmpfile();
  {
    StatusLine status(file, true);
    status.update("warm-up");
    status.message("note");
  }
  EXPECT_EQ(written(file), "note\n");
  std::fclose(file);
}

class Terminal : public ::testing::Test {
 protected:
  void SetUp() override {
    master_ = ::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    ASSERT_GE(master_, 0);
    ASSERT_EQ(::grantpt(master_), 0);
    ASSERT_EQ(::unlockpt(master_), 0);
    const winsize size{24, 20, 0, 0};
    ASSERT_EQ(::ioctl(master_, TIOCSWINSZ, &size), 0);
    terminal_ = std::fopen(::ptsname(master_), "w");
    ASSERT_NE(terminal_, nullptr);
  }
  void TearDown() override {
    if (terminal_) std::fclose(terminal_);
    ::close(master_);
  }
  // What the terminal was sent since, of which one read may see a part only: read until nothing comes for a while.
  std::string shown(int first_ms = 2000) {
    std::string all;
    pollfd ready = {master_, POLLIN, 0};
    char text[4096];
    for (int wait_ms = first_ms; ::poll(&ready, 1, wait_ms) == 1; wait_ms = 50) {
      const ssize_t n = ::read(master_, text, sizeof text);
      if (n <= 0) break;
      all.append(text, size_t(n));
    }
    return all;
  }
  int master_ = -1;
  std::FILE* terminal_ = nullptr;
};

TEST_F(Terminal, StatusIsRedrawnInPlaceAndElided) {
  StatusLine status(terminal_);
  status.update("measuring größere Modelle");
  EXPECT_EQ(shown(), "\rmeasuring größere …\x1b[K");  // 19 of 20 columns
  status.message("a note");
  EXPECT_EQ(shown(), "\r\x1b[Ka note\r\n");
  status.clear();
  EXPECT_EQ(shown(50), "");
}

TEST_F(Terminal, ColorNeedsATerminalAndHonoursNoColor) {
  ::setenv("TERM", "xterm", 1);
  ::unsetenv("NO_COLOR");
  EXPECT_TRUE(use_color(terminal_));
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(use_color(terminal_));
  ::unsetenv("NO_COLOR");
  ::setenv("TERM", "dumb", 1);
  EXPECT_FALSE(use_color(terminal_));
  std::FILE* file = std::tmpfile();
  ::setenv("TERM", "xterm", 1);
  EXPECT_FALSE(use_color(file));
  std::fclose(file);
}

}  // namespace
}  // namespace erg
