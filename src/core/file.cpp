// Whole-file reading and atomic writing, and the folders that belong to the program.
#include "core/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <random>
#include <utility>

#include "core/error.hpp"

namespace erg {
namespace fs = std::filesystem;
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  bool close() { return ::close(std::exchange(fd_, -1)) == 0; }  // NFS reports late write errors here

 private:
  int fd_;
};

bool write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    content.remove_prefix(size_t(n));
  }
  return true;
}

// A new empty file beside `path` under a name nobody else uses, on any machine that shares the folder.
fs::path make_aside(const fs::path& path, int& fd) {
  std::random_device random;
  for (int tries = 0; tries < 100; ++tries) {
    const fs::path aside = path.parent_path() / fmt::format(".{}.{:08x}{:08x}", path.filename().string(), random(), random());
    fd = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) return aside;
  }
  return {};
}

}  // namespace

std::string read_file(const fs::path& path, size_t most) {
  const auto fail = [&] { return Error(ErrorKind::usage, fmt::format("cannot read the file: {}", std::strerror(errno)), path.string()); };
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) throw fail();
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw fail();
  std::string content;
  if (S_ISREG(status.st_mode)) content.reserve(std::min(size_t(status.st_size), most));
  char part[1 << 16];
  for (;;) {  // not by st_size: files of /proc and /sys say 0
    const ssize_t n = ::read(file.get(), part, sizeof part);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw fail();
    if (n == 0) return content;
    content.append(part, size_t(n));
    if (content.size() > most)
      throw Error(ErrorKind::usage, fmt::format("the file is larger than the {} MB that are read of such files", most / 1'000'000),
                  path.string());
  }
}

void write_file_atomically(const fs::path& path, std::string_view content) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  int fd = -1;
  const fs::path aside = make_aside(path, fd);
  const bool made = fd >= 0;
  Descriptor file(fd);
  if (made && write_all(fd, content) && ::fsync(fd) == 0 && file.close() && ::rename(aside.c_str(), path.c_str()) == 0) {
    const Descriptor parent(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (parent.get() >= 0) ::fsync(parent.get());  // makes the rename itself durable; where a file system refuses, nothing is lost
    return;
  }
  const int reason = errno;
  if (made) ::unlink(aside.c_str());
  throw Error(ErrorKind::failed, fmt::format("cannot write the file: {}", std::strerror(reason)), path.string());
}

fs::path executable_folder() {
  std::error_code failed;
  const fs::path binary = fs::read_symlink("/proc/self/exe", failed);
  if (failed) throw Error(ErrorKind::failed, "cannot tell where the running binary lies: " + failed.message(), "/proc/self/exe");
  return binary.parent_path();
}

}  // namespace erg
