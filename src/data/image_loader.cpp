// Which part of a file is decoded, and how small.
#include "data/image_loader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "core/error.hpp"
#include "data/crop.hpp"

namespace erg {

namespace {

// read_file() into a buffer that is used again. Not blocking, so that a pipe of that name is an error and not a wait without end.
void read_into(std::vector<uint8_t>& bytes, const std::string& path) {
  const auto fail = [&](const char* why) { return Error(ErrorKind::usage, fmt::format("cannot read the image: {}", why), path); };
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) throw fail(std::strerror(errno));
  struct stat status {};
  ssize_t n = fstat(fd, &status);
  const bool regular = n == 0 && S_ISREG(status.st_mode);
  bytes.resize(regular ? size_t(status.st_size) : 0);
  size_t have = 0;
  while (n >= 0 && have < bytes.size()) {
    n = read(fd, bytes.data() + have, bytes.size() - have);
    if (n == 0) break;
    if (n > 0)
      have += size_t(n);
    else if (errno == EINTR)
      n = 0;
  }
  const int reason = errno;
  close(fd);
  if (n < 0) throw fail(std::strerror(reason));
  if (!regular) throw fail("it is not a file");
  bytes.resize(have);
}

}  // namespace

void ImageLoader::load(const std::string& path, bool augment, uint64_t key, int size, float* out) {
  read_into(file_, path);
  load(file_, path, augment, key, size, out);
}

void ImageLoader::load(std::span<const uint8_t> file, const std::string& name, bool augment, uint64_t key, int size, float* out) {
  decoder_.open(file, name);
  Box box = augment ? random_resized_crop(decoder_.width(), decoder_.height(), key) : central_crop(decoder_.width(), decoder_.height());
  int denominator = 1;  // JPEG's own reduction is nearly free, as long as it does not go below the wanted size
  while (denominator < 8 && std::min(box.width, box.height) >= 2.0 * denominator * size) denominator *= 2;
  const int x = int(std::floor(box.x)), y = int(std::floor(box.y));
  const PixelRect rect{x, y, int(std::ceil(box.x + box.width)) - x, int(std::ceil(box.y + box.height)) - y};
  const DecodedPart part = decoder_.decode(rect, denominator);
  for (double* side : {&box.x, &box.y, &box.width, &box.height}) *side /= denominator;
  resizer_.run(part, box, size, augment && (key & 1), out);
}

}  // namespace erg
