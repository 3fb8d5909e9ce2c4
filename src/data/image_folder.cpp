// Training batches from a folder of JPEGs: decoded, cropped, flipped and normalised on prefetch threads, all of them at one batch at a
// time. What an image looks like depends on the seed and its place in the run only, never on which thread made it.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "core/error.hpp"
#include "core/rng.hpp"
#include "data/batches.hpp"
#include "data/image_list.hpp"
#include "data/image_loader.hpp"
#include "data/positions.hpp"
#include "data/prefetch.hpp"
#include "data/shape_check.hpp"
#include "data/shuffle.hpp"

namespace erg {
namespace {

constexpr uint64_t kOrderStream = 5000, kAugmentStream = 5001;
constexpr int kBatchesAhead = 2;

// The endless sequence of batches of one split.
class ImageStream {
 public:
  // Begins at image number `first` of the split's endless order.
  ImageStream(const std::vector<LabelledImage>& images, const ImageShape& shape, uint64_t seed, bool augment, int workers, int64_t first)
      : first_(first),
        images_(images),
        shape_(shape),
        seed_(seed),
        augment_(augment),
        loaders_(size_t(workers)),
        prefetch_([this](HostBatch& batch, int64_t index, int64_t part, int worker) { make(batch, index, part, worker); },
                  empty_batch(shape), shape.batch, workers, kBatchesAhead) {}

  const HostBatch& next() {
    given_ += shape_.batch;  // also when it throws: the next call goes on behind it
    return prefetch_.next();
  }
  int64_t position() const { return first_ + given_; }

 private:
  static HostBatch empty_batch(const ImageShape& shape) {
    HostBatch batch;
    batch.targets.resize(size_t(shape.batch));
    batch.pixels.resize(size_t(shape.batch * 3 * shape.size * shape.size));
    return batch;
  }

  // Training goes through the images in another order each epoch; validation in one mixed order, so that few batches see all classes.
  void make(HostBatch& batch, int64_t index, int64_t part, int worker) {
    const int64_t place = first_ + index * shape_.batch + part, n = int64_t(images_.size());
    const uint64_t epoch = augment_ ? uint64_t(place / n) : 0;
    const LabelledImage& image = images_[size_t(shuffled(place % n, n, random_bits(seed_, kOrderStream, epoch)))];
    const uint64_t key = random_bits(seed_, kAugmentStream, uint64_t(place));
    batch.targets[size_t(part)] = image.label;
    loaders_[size_t(worker)].load(image.path, augment_, key, int(shape_.size), &batch.pixels[size_t(part * 3 * shape_.size * shape_.size)]);
  }

  int64_t first_, given_ = 0;
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
    seek(single_position(0, 0, 0));
  }

  const HostBatch& next(Split split) override {
    if (split == Split::train) return train_->next();
    if (!validation_) validation_.emplace(list_.validation, shape_, seed_, false, workers_, first_validation_);
    return validation_->next();
  }

  std::string describe() const override {
    return fmt::format("{} JPEG images of {} classes in {}", list_.train.size(), list_.classes.size(), folder_);
  }
  bool real() const override { return true; }
  DataFacts facts() const override { return {"images", {folder_}, int64_t(list_.train.size()), int64_t(list_.validation.size())}; }
  DataPosition position() const override {
    return single_position(train_->position(), validation_ ? validation_->position() : first_validation_, int64_t(list_.train.size()));
  }
  void seek(const DataPosition& position) override {
    const SourcePosition at = require_single(position, int64_t(list_.train.size()));
    validation_.reset();
    first_validation_ = at.validation;
    train_.emplace(list_.train, shape_, seed_, true, workers_, at.samples);
  }

 private:
  // A quarter of the cores: a core decodes hundreds of images a second, and the rest should train.
  static int default_workers() { return int(std::clamp(std::thread::hardware_concurrency() / 4, 1u, 16u)); }

  std::string folder_;
  ImageShape shape_;
  uint64_t seed_;
  int workers_;
  ImageList list_;
  int64_t first_validation_ = 0;
  std::optional<ImageStream> train_, validation_;
};

}  // namespace

std::unique_ptr<Batches> image_folder(const std::string& folder, const ImageShape& shape, uint64_t seed, int workers) {
  return std::make_unique<ImageFolder>(folder, shape, seed, workers);
}

}  // namespace erg
