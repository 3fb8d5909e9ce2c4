// The one place that knows how llm.c's token files look on disk.
#include "data/token_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <vector>

#include "core/error.hpp"

namespace erg {
namespace {

static_assert(std::endian::native == std::endian::little, "token files are mapped as they lie on disk");

struct Variant {
  uint32_t magic, version;
};
constexpr Variant kNarrow{20240520, 1}, kWide{20240801, 7};
using Header = std::array<uint32_t, 256>;

}  // namespace

TokenWriter::TokenWriter(std::string path, int64_t vocabulary)
    : path_(std::move(path)), aside_(path_ + ".part"), wide_(vocabulary > 65536), file_(std::fopen(aside_.c_str(), "wb")) {
  if (!file_) throw Error(ErrorKind::failed, fmt::format("cannot write: {}", std::strerror(errno)), aside_);
  write_header();
}

TokenWriter::~TokenWriter() {
  if (file_) std::remove(aside_.c_str());
}

void TokenWriter::write(const void* data, size_t bytes) {
  if (std::fwrite(data, 1, bytes, file_.get()) != bytes)
    throw Error(ErrorKind::failed, fmt::format("cannot write: {}", std::strerror(errno)), aside_, "is the disk full?");
}

void TokenWriter::write_header() {
  const auto [magic, version] = wide_ ? kWide : kNarrow;
  const Header header{magic, version, uint32_t(count_), uint32_t(uint64_t(count_) >> 32)};
  write(header.data(), sizeof header);
}

void TokenWriter::append(std::span<const int> tokens) {
  if (wide_) {
    write(tokens.data(), tokens.size_bytes());
  } else {
    const std::vector<uint16_t> narrow(tokens.begin(), tokens.end());
    write(narrow.data(), narrow.size() * sizeof(uint16_t));
  }
  count_ += int64_t(tokens.size());
}

void TokenWriter::finish() {
  std::rewind(file_.get());
  write_header();
  const bool safe = std::fflush(file_.get()) == 0 && fsync(fileno(file_.get())) == 0 && std::rename(aside_.c_str(), path_.c_str()) == 0;
  if (!safe) throw Error(ErrorKind::failed, fmt::format("cannot write: {}", std::strerror(errno)), path_, "is the disk full?");
  file_.reset();
}

TokenFile::TokenFile(std::string path) : path_(std::move(path)) {
  const auto fail = [&](const std::string& why) {
    return Error(ErrorKind::usage, why, path_, "make the folder again with `ergometer data tokens`");
  };
  const int fd = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw fail(fmt::format("cannot open the token file: {}", std::strerror(errno)));
  struct stat status {};
  const bool known = fstat(fd, &status) == 0;
  bytes_ = known ? size_t(status.st_size) : 0;
  void* map = bytes_ >= sizeof(Header) ? mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
  close(fd);
  if (bytes_ < sizeof(Header)) throw fail(fmt::format("{} bytes are too few for a token file's header", bytes_));
  if (map == MAP_FAILED) throw fail(fmt::format("cannot map the token file: {}", std::strerror(errno)));

  const auto* header = static_cast<const uint32_t*>(map);
  const auto is = [&](Variant v) { return header[0] == v.magic && header[1] == v.version; };
  wide_ = is(kWide);
  const uint64_t count = header[2] | uint64_t(header[3]) << 32;
  const uint64_t held = (bytes_ - sizeof(Header)) / (wide_ ? 4 : 2);
  const uint64_t rest = (bytes_ - sizeof(Header)) % (wide_ ? 4 : 2);
  std::string wrong;
  if (!wide_ && !is(kNarrow))
    wrong = fmt::format("not a token file: magic {} version {}", header[0], header[1]);
  else if (count != held || rest != 0)
    wrong = fmt::format("the header says {} tokens, the file holds {}", count, held);
  if (!wrong.empty()) {
    munmap(map, bytes_);
    throw fail(wrong);
  }
  map_ = map;
  tokens_ = header + 256;
  count_ = int64_t(count);
}

TokenFile::~TokenFile() {
  if (map_) munmap(map_, bytes_);
}

}  // namespace erg
