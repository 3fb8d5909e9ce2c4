// open, fstat and pread with their errors as Error.
#include "data/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/error.hpp"

namespace erg {

InputFile::InputFile(std::string path) : path_(std::move(path)), fd_(open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  const auto fail = [&](const std::string& why, const char* fix) {
    if (fd_ >= 0) close(fd_);
    return Error(ErrorKind::usage, why, path_, fix);
  };
  if (fd_ < 0)
    throw fail(fmt::format("cannot open the file: {}", std::strerror(errno)),
               errno == EMFILE ? "raise the limit of open files: ulimit -n" : "is the name right, and may we read it?");
  struct stat status {};
  if (fstat(fd_, &status) != 0) throw fail(fmt::format("cannot open the file: {}", std::strerror(errno)), "");
  if (!S_ISREG(status.st_mode)) throw fail("is not a file", "name a file");
  bytes_ = status.st_size;
}

InputFile::~InputFile() {
  if (fd_ >= 0) close(fd_);
}

InputFile::InputFile(InputFile&& other) noexcept : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), bytes_(other.bytes_) {}

void InputFile::read(int64_t offset, void* to, size_t count) const {
  for (size_t have = 0; have < count;) {
    const ssize_t n = pread(fd_, static_cast<char*>(to) + have, count - have, offset + int64_t(have));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Error(ErrorKind::usage, fmt::format("cannot read the file: {}", std::strerror(errno)), path_);
    if (n == 0) {
      struct stat status {};
      fstat(fd_, &status);
      throw Error(ErrorKind::usage, fmt::format("has {} bytes, it had {} when it was opened", status.st_size, bytes_), path_,
                  "something shortened the file while it was in use: restore it and run again");
    }
    have += size_t(n);
  }
}

}  // namespace erg
