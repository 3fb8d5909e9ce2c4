// A fuzzer's input as a file, in memory, under a path that stays the same.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/error.hpp"

namespace erg {

// Whatever was promised and did not hold is a crash, which the fuzzer keeps.
inline void promise(bool holds) {
  if (!holds) std::abort();
}

class InputAsFile {
 public:
  InputAsFile() : fd_(memfd_create("input", 0)), path_("/proc/self/fd/" + std::to_string(fd_)) { promise(fd_ >= 0); }
  const std::string& hold(const void* data, size_t size) {
    promise(ftruncate(fd_, 0) == 0 && pwrite(fd_, data, size, 0) == ssize_t(size));
    return path_;
  }

 private:
  int fd_;
  std::string path_;
};

// A reader may give anything but crash, hang, or throw what is not an Error.
template <class Work>
bool succeeds(Work&& work) {
  try {
    work();
    return true;
  } catch (const Error&) { return false; }
}

}  // namespace erg
