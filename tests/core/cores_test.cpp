// Cores out of fake sysfs trees.
#include "core/cores.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace erg {
namespace {

class Cores : public testing::Test {
 protected:
  Cores() : sysfs(std::filesystem::temp_directory_path() / ("cores_test_" + std::to_string(::getpid()))) {}
  ~Cores() override { std::filesystem::remove_all(sysfs); }
  void cpu(int number, const char* siblings, const char* file = "core_cpus_list") const {
    const auto folder = sysfs / "devices/system/cpu" / ("cpu" + std::to_string(number)) / "topology";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / file) << siblings << "\n";
    std::ofstream(folder / "core_id") << 0 << "\n";  // says nothing: it repeats in dies and clusters
  }
  const std::filesystem::path sysfs;
};

TEST_F(Cores, HyperthreadsCountOnce) {
  for (int i = 0; i < 8; ++i) cpu(i, std::vector{"0-1", "2-3", "4,6", "5,7"}[size_t(i < 4 ? i / 2 : 2 + i % 2)]);
  using Cpus = std::vector<int>;
  EXPECT_EQ(one_cpu_per_core({0, 1, 2, 3, 4, 5, 6, 7}, sysfs), (Cpus{0, 2, 4, 5}));
  EXPECT_EQ(one_cpu_per_core({1, 3}, sysfs), (Cpus{1, 3}));
  EXPECT_EQ(one_cpu_per_core({0, 1}, sysfs), (Cpus{0}));
  EXPECT_EQ(one_cpu_per_core({}, sysfs), (Cpus{}));
}

TEST_F(Cores, OldKernelsCallThemThreadSiblings) {
  cpu(0, "0,2", "thread_siblings_list");
  cpu(2, "0,2", "thread_siblings_list");
  EXPECT_EQ(one_cpu_per_core({0, 2}, sysfs), std::vector<int>{0});
}

TEST_F(Cores, WhatIsNotToldCountsAsACore) {
  EXPECT_EQ(one_cpu_per_core({0, 1, 2}, sysfs).size(), 3u);
  cpu(0, "0-1");
  cpu(1, "0-1");
  EXPECT_EQ(one_cpu_per_core({0, 1, 2}, sysfs), (std::vector<int>{0, 2}));
}

}  // namespace
}  // namespace erg
