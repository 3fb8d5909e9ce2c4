// A machine that refuses or lies: memory limited by a cgroup, a wall clock that steps back. The run tells, and its record is kept.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "../cli/program.hpp"

namespace erg {
namespace {

using namespace test;
using testing::HasSubstr;
using Words = std::vector<std::string>;
namespace fs = std::filesystem;

// A memory cgroup of our own below the root, version 1 or 2; path() is empty where we may not make one.
class MemoryCgroup {
 public:
  explicit MemoryCgroup(const std::string& limit) {
    for (const auto& [root, file] : {std::pair{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"}, {"/sys/fs/cgroup", "memory.max"}}) {
      std::error_code error;
      const fs::path folder = fs::path(root) / ("ergometer-test-" + std::to_string(::getpid()));
      if (!fs::create_directory(folder, error)) continue;
      if (std::ofstream(folder / file) << limit << std::flush) {
        path_ = folder;
        return;
      }
      fs::remove(folder, error);
    }
  }
  ~MemoryCgroup() {
    if (!path_.empty()) ::rmdir(path_.c_str());
  }
  MemoryCgroup(const MemoryCgroup&) = delete;
  MemoryCgroup& operator=(const MemoryCgroup&) = delete;

  std::string path() const { return path_.string(); }
  ChildResult run(const Words& command) const {
    ChildOptions child;
    child.argv = Words{"sh", "-c", "echo $$ > " + path() + "/cgroup.procs; exec \"$0\" \"$@\""} + command;
    return run_child(child);
  }

 private:
  fs::path path_;
};

// The CPU engine looks before it takes; the reference engine does not, and is killed.
TEST(FullLimits, ACgroupsMemoryLimitEndsItsOwnCellOnly) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the address sanitizer's own memory is many times what is tested";
#endif
  const MemoryCgroup cgroup("400M");
  if (cgroup.path().empty()) GTEST_SKIP() << "no memory cgroup can be made here (root and a writable /sys/fs/cgroup are needed)";
  for (const char* device : {"cpu", "ref"}) {
    Program ergometer;
    const ChildResult r =
        cgroup.run(Words{Program::path(), "sweep", "gpt-117m", "--results", ergometer.results(), "--device", device, "--set",
                         "measure.check=false", "--set", "vocabulary=200", "--set", "sequence=32", "--axis", "layers=1,12,2"} +
                   brief);
    EXPECT_EQ(r.exit_code, 1) << r.err;
    const auto records = ergometer.records();
    ASSERT_EQ(records.size(), 3u) << r.err;
    EXPECT_EQ(records[0].at("status"), "PASSED") << records[0].at("status_reason");
    EXPECT_EQ(records[1].at("status"), "OOM") << records[1].at("status_reason");
    EXPECT_EQ(records[2].at("status"), "PASSED") << records[2].at("status_reason");
  }
}

TEST(Limits, AWallClockThatStepsBackIsFlaggedAndTouchesNoResult) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the stub is preloaded, and the address sanitizer must come first";
#endif
  Program ergometer;
  ChildOptions child;
  child.argv =
      Words{Program::path(), "run", "gpt-tiny", "--device", "ref", "--results", ergometer.results(), "--set", "measure.check=false"} +
      brief + Words{"--set", "measure.settle_max_s=0", "--set", "measure.duration_s=2"};  // the clock steps inside the window
  child.environment = {"LD_PRELOAD=" ERG_STUB_CLOCK, "ERG_CLOCK_STEP_S=-3600"};
  const ChildResult r = run_child(child);
  EXPECT_EQ(r.exit_code, 0) << r.err;
  const auto records = ergometer.records();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].at("status"), "PASSED") << records[0].at("status_reason");
  std::string detail;
  for (const auto& flag : records[0].at("flags"))
    if (flag.at("code") == "clock_step") detail = flag.at("detail");
  EXPECT_THAT(detail, HasSubstr("-3600")) << records[0].at("flags");
  const double window = records[0].at("phases").at("measure_s"), rate = records[0].at("metrics").at("tokens_per_s").at("value");
  EXPECT_GT(window, 0);
  EXPECT_LT(window, 60);
  EXPECT_GT(rate, 0);
}

}  // namespace
}  // namespace erg
