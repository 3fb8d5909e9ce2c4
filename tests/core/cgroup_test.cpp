// Limits of control groups, of both versions, nested and not.
#include "core/cgroup.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace erg {
namespace {

class Cgroup : public testing::Test {
 protected:
  ~Cgroup() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << "\n";
  }
  CgroupLimits limits() const { return cgroup_limits(root_.string()); }
  std::filesystem::path root_ = std::filesystem::temp_directory_path() / ("ergometer-cgroup-" + std::to_string(::getpid()));
};

TEST_F(Cgroup, WithoutFilesNothingIsKnown) {
  EXPECT_FALSE(limits().known);
  EXPECT_FALSE(limits().cpus);
  EXPECT_FALSE(limits().memory_bytes);
}

TEST_F(Cgroup, MaxIsNoLimit) {
  write("proc/self/cgroup", "0::/");
  write("sys/fs/cgroup/cpu.max", "max 100000");
  write("sys/fs/cgroup/memory.max", "max");
  EXPECT_TRUE(limits().known);
  EXPECT_FALSE(limits().cpus);
  EXPECT_FALSE(limits().memory_bytes);
}

TEST_F(Cgroup, AParentsTighterLimitBindsInVersion2) {
  write("proc/self/cgroup", "0::/job/step");
  write("sys/fs/cgroup/job/step/cpu.max", "400000 100000");
  write("sys/fs/cgroup/job/cpu.max", "150000 100000");
  write("sys/fs/cgroup/job/step/memory.max", "1000000");
  write("sys/fs/cgroup/job/memory.max", "2000000");
  EXPECT_DOUBLE_EQ(*limits().cpus, 1.5);
  EXPECT_EQ(*limits().memory_bytes, 1000000);
}

TEST_F(Cgroup, Version1HasAHierarchyPerController) {
  write("proc/self/cgroup", "4:memory:/a/b\n1:cpu,cpuacct:/c\n0::/");
  write("sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "200000");
  write("sys/fs/cgroup/cpu/c/cpu.cfs_period_us", "100000");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  write("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712");
  write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "5000000");
  EXPECT_DOUBLE_EQ(*limits().cpus, 2);
  EXPECT_EQ(*limits().memory_bytes, 5000000);
}

TEST_F(Cgroup, AHostsPathInAContainerFallsBackToTheMount) {
  write("proc/self/cgroup", "0::/system.slice/docker-0123.scope");
  write("sys/fs/cgroup/cpu.max", "50000 100000");
  EXPECT_DOUBLE_EQ(*limits().cpus, 0.5);
}

TEST_F(Cgroup, TheHybridMountIsFound) {
  write("proc/self/cgroup", "1:cpu:/\n0::/x");
  write("sys/fs/cgroup/unified/x/memory.max", "4096");
  EXPECT_EQ(*limits().memory_bytes, 4096);
}

TEST_F(Cgroup, GarbageIsNoLimit) {
  write("sys/fs/cgroup/cpu.max", "lots of it");
  write("sys/fs/cgroup/memory.max", "12 apples");
  EXPECT_FALSE(limits().cpus);
  EXPECT_FALSE(limits().memory_bytes);
}

}  // namespace
}  // namespace erg
