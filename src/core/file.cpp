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

Error cannot_write(const fs::path& path, int reason) {
  return Error(ErrorKind::failed, fmt::format("cannot write the file: {}", std::strerror(reason)), path.string(),
               reason == ENOSPC || reason == EDQUOT ? "make room there" : "");
}

// Makes a rename or a new name durable; where a file system refuses, nothing is lost.
void sync_folder(const fs::path& path) {
  const Descriptor folder(
      ::open((path.has_parent_path() ? path.parent_path() : fs::path(".")).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() >= 0) ::fsync(folder.get());
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

bool is_device_or_pipe(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

void write_into(const fs::path& path, std::string_view content) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0 || !write_all(file.get(), content) || !file.close()) throw cannot_write(path, errno);
}

// The content, complete and on the disk, under a name of its own beside `path`. The name goes again unless it was renamed to `path`.
class Aside {
 public:
  Aside(const fs::path& path, std::string_view content, Synced synced) : target_(path), synced_(synced) {
    int fd = -1;
    path_ = make_aside(path, fd);
    if (fd < 0) throw cannot_write(path, errno);
    Descriptor file(fd);
    if (write_all(fd, content) && (synced == Synced::nothing || ::fsync(fd) == 0) && file.close()) return;
    const int reason = errno;
    ::unlink(path_.c_str());
    throw cannot_write(path, reason);
  }
  ~Aside() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;
  const fs::path& path() const { return path_; }
  void placed() {
    path_.clear();
    sync_name();
  }
  void sync_name() const {
    if (synced_ == Synced::name) sync_folder(target_);
  }
  // NFS may report that a link failed which was made: its answer got lost and the second try met the first. Keeps errno.
  bool has_two_names() const {
    const int kept = errno;
    struct stat status {};
    const bool two = ::stat(path_.c_str(), &status) == 0 && status.st_nlink == 2;
    errno = kept;
    return two;
  }

 private:
  fs::path target_, path_;
  Synced synced_;
};

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

void write_file_atomically(const fs::path& path, std::string_view content, Synced synced) {
  if (is_device_or_pipe(path)) return write_into(path, content);
  Aside aside(path, content, synced);
  if (::rename(aside.path().c_str(), path.c_str()) != 0) throw cannot_write(path, errno);
  aside.placed();
}

bool create_file_atomically(const fs::path& path, std::string_view content, Synced synced) {
  const Aside aside(path, content, synced);
  if (::link(aside.path().c_str(), path.c_str()) == 0 || aside.has_two_names()) {
    aside.sync_name();
    return true;
  }
  if (errno == EEXIST) return false;
  if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS && errno != EMLINK) throw cannot_write(path, errno);
  // A file system without hard links: exclusive creation is as sure, but a reader may for a moment see an empty file.
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.get() < 0 && errno == EEXIST) return false;
  if (file.get() < 0 || !write_all(file.get(), content) || ::fsync(file.get()) != 0 || !file.close()) throw cannot_write(path, errno);
  sync_folder(path);
  return true;
}

fs::path executable_folder() {
  std::error_code failed;
  const fs::path binary = fs::read_symlink("/proc/self/exe", failed);
  if (failed) throw Error(ErrorKind::failed, "cannot tell where the running binary lies: " + failed.message(), "/proc/self/exe");
  return binary.parent_path();
}

}  // namespace erg
