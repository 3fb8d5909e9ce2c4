// A made-up /sys whose sensor files a test writes, and changes by renaming as the kernel does: a reader never sees half a number.
#pragma once
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace erg::test {

class SysfsTree : public testing::Test {
 protected:
  SysfsTree() { std::filesystem::create_directories(root_); }
  ~SysfsTree() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / (path + ".new")) << text << '\n';
    std::filesystem::rename(root_ / (path + ".new"), root_ / path);
  }
  void remove(const std::string& path) { std::filesystem::remove_all(root_ / path); }

  // A powercap zone: "0", "package-0", microjoules now, and the largest value ("" leaves the file out).
  void zone(const std::string& id, const std::string& name, const std::string& energy, const std::string& range = "262143328850",
            const std::string& control = "intel-rapl") {
    const std::string folder = "class/powercap/" + control + ":" + id;
    write(folder + "/name", name);
    write(folder + "/energy_uj", energy);
    if (!range.empty()) write(folder + "/max_energy_range_uj", range);
  }
  // Root may read everything, so a file that can't be read is a folder.
  void unreadable(const std::string& path) {
    remove(path);
    std::filesystem::create_directories(root_ / path);
  }
  std::string root() const { return root_.string(); }

  std::filesystem::path root_ = std::filesystem::temp_directory_path() / ("ergometer-sysfs-" + std::to_string(::getpid()));
};

}  // namespace erg::test
