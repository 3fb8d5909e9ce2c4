// A spec text as a temporary file, and the errors it causes.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "spec/spec.hpp"

namespace erg {

// One file a process, written again and again, in memory where possible: disks take milliseconds to rewrite a file.
class SpecFile {
 public:
  explicit SpecFile(const std::string& text) { std::ofstream(path(), std::ios::binary) << text; }
  std::string path() const { return folder() / "spec.toml"; }
  static const std::filesystem::path& folder() {
    static const Folder one;
    return one.path;
  }

 private:
  struct Folder {
    std::string name = std::filesystem::is_directory("/dev/shm") ? "/dev/shm/erg-spec-XXXXXX" : "/tmp/erg-spec-XXXXXX";
    std::filesystem::path path = ::mkdtemp(name.data());
    ~Folder() { std::filesystem::remove_all(path); }
  };
};

inline Spec load(const std::string& text, const std::vector<std::string>& set = {}) {
  const SpecFile file(text);
  return load_spec({file.path(), set, {}, {}});
}

inline std::vector<SweepPoint> sweep(const std::string& text, const std::vector<std::string>& set = {},
                                     const std::vector<std::string>& axes = {}) {
  const SpecFile file(text);
  return load_sweep({file.path(), set, axes, {}});
}

// The whole text of the usage error that `act` throws, with the temporary folder's name cut out; "" when it throws none.
template <class Act>
std::string error_of(const Act& act) {
  try {
    act();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::usage);
    std::string text = e.what();
    const std::string folder = SpecFile::folder().string() + "/";
    for (size_t at; (at = text.find(folder)) != text.npos;) text.erase(at, folder.size());
    return text;
  }
  return "";
}

inline std::string load_error(const std::string& text, const std::vector<std::string>& set = {}) {
  return error_of([&] { load(text, set); });
}

}  // namespace erg
