// Training batches from a folder of JPEGs: decoded, cropped, flipped and normalised on prefetch threads, all of them at one batch at a
// time. What an image looks like depends on the seed and its place in the run only, never on which thread made it.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <optional>
#include <thread>

#include "core/error.hpp"
#include "core/rng.hpp"
#include "data/batches.hpp"
#include "data/crop.hpp"
#include "data/image_list.hpp"
#include "data/jpeg.hpp"
#include "data/prefetch.hpp"
#include "data/resize.hpp"
#include "data/shape_check.hpp"
#include "data/shuffle.hpp"

namespace erg {
namespace {

constexpr uint64_t kOrderStream = 5000, kAugmentStream = 5001;
constexpr int kBatchesAhead = 2;

// read_file() into a buffer that is used again.
void read_into(std::vector<uint8_t>& bytes, const std::string& path) {
  const auto fail = [&] { return Error(ErrorKind::usage, fmt::format("cannot read the image: {}", std::strerror(errno)), path); };
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw fail();
  struct stat status {};
  ssize_t n = fstat(fd, &status);
  bytes.resize(n == 0 ? size_t(status.st_size) : 0);
  size_t have = 0;
  while (n >= 0 && have < bytes.size()) {
    n = read(fd, bytes.data() + have, bytes.size() - have);
    if (n == 0) break;
    if (n > 0)
      have += size_t(n);
    else if (errno == EINTR)
      n = 0;
  }
  const int saved = errno;
  close(fd);
  errno = saved;
  if (n < 0) throw fail();
  bytes.resize(have);
}

// One worker's tools.
class ImageLoader {
 public:
  // out [3, size, size]: a crop and flip that `key` decides when `augment`, else the central crop.
  void load(const std::string& path, bool augment, uint64_t key, int size, float* out) {
    read_into(file_, path);
    decoder_.open(file_, path);
    Box box = augment ? random_resized_crop(decoder_.width(), decoder_.height(), key) : central_crop(decoder_.width(), decoder_.height());
    int denominator = 1;  // JPEG's own reduction is nearly free, as long as it does not go below the wanted size
    while (denominator < 8 && std::min(box.width, box.height) >= 2.0 * denominator * size) denominator *= 2;
    const int x = int(std::floor(box.x)), y = int(std::floor(box.y));
    const PixelRect rect{x, y, int(std::ceil(box.x + box.width)) - x, int(std::ceil(box.y + box.height)) - y};
    const DecodedPart part = decoder_.decode(rect, denominator);
    for (double* side : {&box.x, &box.y, &box.width, &box.height}) *side /= denominator;
    resizer_.run(part, box, size, augment && (key & 1), out);
  }

 private:
  std::vector<uint8_t> file_;
  JpegDecoder decoder_;
  Resizer resizer_;
};

// The endless sequence of batches of one split.
class ImageStream {
 public:
  ImageStream(const std::vector<LabelledImage>& images, const ImageShape& shape, uint64_t seed, bool augment, int workers)
      : images_(images),
        shape_(shape),
        seed_(seed),
        augment_(augment),
        loaders_(size_t(workers)),
        prefetch_([this](HostBatch& batch, int64_t index, int64_t part, int worker) { make(batch, index, part, worker); },
                  empty_batch(shape), shape.batch, workers, kBatchesAhead) {}

  const HostBatch& next() { return prefetch_.next(); }

 private:
  static HostBatch empty_batch(const ImageShape& shape) {
    HostBatch batch;
    batch.targets.resize(size_t(shape.batch));
    batch.pixels.resize(size_t(shape.batch * 3 * shape.size * shape.size));
    return batch;
  }

  // Training goes through the images in another order each epoch; validation in one mixed order, so that few batches see all classes.
  void make(HostBatch& batch, int64_t index, int64_t part, int worker) {
    const int64_t place = index * shape_.batch + part, n = int64_t(images_.size());
    const uint64_t epoch = augment_ ? uint64_t(place / n) : 0;
    const LabelledImage& image = images_[size_t(shuffled(place % n, n, random_bits(seed_, kOrderStream, epoch)))];
    const uint64_t key = random_bits(seed_, kAugmentStream, uint64_t(place));
    batch.targets[size_t(part)] = image.label;
    loaders_[size_t(worker)].load(image.path, augment_, key, int(shape_.size), &batch.pixels[size_t(part * 3 * shape_.size * shape_.size)]);
  }

  const std::vector<LabelledImage>& images_;
  ImageShape shape_;
  uint64_t seed_;
  bool augment_;
  std::vector<ImageLoader> loaders_;
  Prefetch<HostBatch> prefetch_;  // last: its threads use all of the above
};

class ImageFolder : public Batches {
 public:
  ImageFolder(const std::string& folder, const ImageShape& shape, uint64_t seed, int workers)
      : folder_(folder), shape_(shape), seed_(seed), workers_(workers > 0 ? workers : default_workers()), list_(list_images(folder)) {
    check(shape);
    if (int64_t(list_.classes.size()) > shape.classes)
      throw Error(ErrorKind::usage, fmt::format("has {} classes, the model only {}", list_.classes.size(), shape.classes), folder);
    train_.emplace(list_.train, shape_, seed_, true, workers_);
  }

  const HostBatch& next(Split split) override {
    if (split == Split::train) return train_->next();
    if (!validation_) validation_.emplace(list_.validation, shape_, seed_, false, workers_);
    return validation_->next();
  }

  std::string describe() const override {
    return fmt::format("{} JPEG images of {} classes in {}", list_.train.size(), list_.classes.size(), folder_);
  }
  bool real() const override { return true; }

 private:
  // A quarter of the cores: a core decodes hundreds of images a second, and the rest should train.
  static int default_workers() { return int(std::clamp(std::thread::hardware_concurrency() / 4, 1u, 16u)); }

  std::string folder_;
  ImageShape shape_;
  uint64_t seed_;
  int workers_;
  ImageList list_;
  std::optional<ImageStream> train_, validation_;
};

}  // namespace

std::unique_ptr<Batches> image_folder(const std::string& folder, const ImageShape& shape, uint64_t seed, int workers) {
  return std::make_unique<ImageFolder>(folder, shape, seed, workers);
}

}  // namespace erg
