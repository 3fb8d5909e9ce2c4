// A file read at places, not mapped: one that becomes shorter under a running training is then an error that names it, where a map would
// end the process with SIGBUS. A window of text is a few kilobytes, so that the call costs microseconds of a step.
#pragma once
#include <cstdint>
#include <string>

namespace erg {

class InputFile {
 public:
  explicit InputFile(std::string path);  // throws Error(usage) when it cannot be opened or is no regular file
  ~InputFile();
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;

  const std::string& path() const { return path_; }
  int64_t bytes() const { return bytes_; }  // when it was opened

  // Exactly `count` bytes from `offset` on. Throws Error(usage) when the file no longer has them or cannot be read.
  void read(int64_t offset, void* to, size_t count) const;

 private:
  std::string path_;
  int fd_ = -1;
  int64_t bytes_ = 0;
};

}  // namespace erg
