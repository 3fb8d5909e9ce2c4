// Image folders: what is found, what comes out, the same for any number of workers; and the set that `data images` makes.
#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "core/file.hpp"
#include "data/batches.hpp"
#include "data/image_list.hpp"
#include "data/inspect.hpp"
#include "data/jpeg.hpp"
#include "data/make_images.hpp"
#include "data/resize.hpp"
#include "temporary_folder.hpp"

namespace erg {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A JPEG of one grey level.
std::string plain(int level, int width = 40, int height = 30) {
  return encode_jpeg(std::vector<uint8_t>(size_t(width * height * 3), uint8_t(level)), width, height, 95);
}

// The grey level of an image in a batch, from its middle pixel.
int level_of(const HostBatch& batch, const ImageShape& shape, int64_t n) {
  const size_t middle = size_t(n * 3 * shape.size * shape.size + shape.size * shape.size / 2 + shape.size / 2);
  return int(std::lround(255 * (batch.pixels[middle] * kImageStd[0] + kImageMean[0])));
}

TEST(ImageList, FindsClassesAndHoldsEveryTenthBack) {
  const TemporaryFolder folder;
  for (int i = 0; i < 10; ++i)
    for (const char* name : {"zebra/", "ant/"}) folder.write(name + std::to_string(i) + (i % 2 ? ".JPG" : ".jpeg"), "x");
  folder.write("ant/notes.txt", "not an image");
  folder.write(".cache/1.jpg", "hidden");
  const ImageList list = list_images(folder.path());
  EXPECT_THAT(list.classes, ElementsAre("ant", "zebra"));
  EXPECT_EQ(image_classes(folder.path()), 2);
  ASSERT_EQ(list.train.size(), 18u);
  ASSERT_EQ(list.validation.size(), 2u);
  std::set<std::string> files;
  for (const auto* images : {&list.train, &list.validation})
    for (const LabelledImage& image : *images) {
      files.insert(image.path);
      EXPECT_EQ(image.label, image.path.find("zebra") != std::string::npos ? 1 : 0);
    }
  EXPECT_EQ(files.size(), 20u);  // disjoint, and all of them
}

TEST(ImageList, TakesTrainAndVal) {
  const TemporaryFolder folder;
  for (const char* name : {"train/a/1.jpg", "train/b/1.jpg", "train/b/2.jpg", "val/b/9.jpg"}) folder.write(name, "x");
  const ImageList list = list_images(folder.path());
  EXPECT_EQ(list.train.size(), 3u);
  ASSERT_EQ(list.validation.size(), 1u);
  EXPECT_EQ(list.validation[0].label, 1);
  folder.write("val/c/1.jpg", "x");
  EXPECT_THAT(error_of([&] { list_images(folder.path()); }), HasSubstr("val/c: is not a class"));
}

TEST(ImageList, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  EXPECT_THAT(error_of([&] { list_images(folder / "none"); }), HasSubstr("No such file"));
  EXPECT_THAT(error_of([&] { list_images(folder.path()); }), HasSubstr("no folders of images"));
  folder.write("a/1.png", "x");
  EXPECT_THAT(error_of([&] { list_images(folder.path()); }), HasSubstr("a: the class has no JPEG files"));
  folder.write("a/1.jpg", "x");
  EXPECT_THAT(error_of([&] { list_images(folder.path()); }), HasSubstr("one image is too few"));
}

TEST(ImageFolder, AnEpochShowsEachTrainingImageOnce) {
  const TemporaryFolder folder;
  for (int i = 0; i < 12; ++i)
    folder.write((i < 6 ? "a/" : "b/") + std::to_string(10 + i) + ".jpg", plain(20 * i));  // 0 and 10 are held back
  const ImageShape shape{5, 16, 2};
  const auto batches = image_folder(folder.path(), shape, 1, 2);
  std::vector<std::vector<int>> epochs(3);
  for (int n = 0, batch = 0; batch < 6; ++batch) {
    const HostBatch& images = batches->next(Split::train);
    for (int64_t i = 0; i < 5; ++i, ++n) {
      const int level = level_of(images, shape, i);
      EXPECT_EQ(images.targets[size_t(i)], level < 120 ? 0 : 1);
      epochs[size_t(n) / 10].push_back(level / 20);
    }
  }
  for (const auto& epoch : epochs) EXPECT_THAT(epoch, testing::UnorderedElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 11));
  EXPECT_NE(epochs[0], epochs[1]);
  std::set<int> held;
  const HostBatch& images = batches->next(Split::validation);
  for (int64_t i = 0; i < 5; ++i) held.insert(level_of(images, shape, i) / 20);
  EXPECT_THAT(held, ElementsAre(0, 10));
  EXPECT_TRUE(batches->real());
}

TEST(ImageFolder, IsTheSameForAnyNumberOfWorkers) {
  const TemporaryFolder folder;
  make_image_folder({folder / "set", 3, 8, 90, 60});
  const ImageShape shape{4, 32, 3};
  const auto one = image_folder(folder / "set", shape, 7, 1), many = image_folder(folder / "set", shape, 7, 5);
  const auto other = image_folder(folder / "set", shape, 8, 2);
  for (int i = 0; i < 12; ++i) {
    const HostBatch batch = one->next(Split::train);
    const HostBatch& same = many->next(Split::train);
    ASSERT_EQ(batch.pixels, same.pixels);
    ASSERT_EQ(batch.targets, same.targets);
    EXPECT_NE(batch.pixels, other->next(Split::train).pixels);
    ASSERT_EQ(one->next(Split::validation).pixels, many->next(Split::validation).pixels);
  }
}

TEST(ImageFolder, TrainingFlipsAndCropsValidationDoesNot) {
  const TemporaryFolder folder;
  std::vector<uint8_t> rgb;  // dark on the left, bright on the right
  for (int y = 0; y < 60; ++y)
    for (int x = 0; x < 80; ++x) rgb.insert(rgb.end(), 3, uint8_t(20 + x * 2));
  for (const char* name : {"a/1.jpg", "a/2.jpg"}) folder.write(name, encode_jpeg(rgb, 80, 60, 95));
  const auto batches = image_folder(folder.path(), {1, 8, 1}, 1, 1);
  const auto ends = [](const HostBatch& batch) { return std::pair{batch.pixels[8 * 4], batch.pixels[8 * 4 + 7]}; };  // of a middle row
  int flipped = 0;
  std::set<float> seen;
  for (int i = 0; i < 100; ++i) {
    const auto [left, right] = ends(batches->next(Split::train));
    flipped += left > right;
    seen.insert(left);
  }
  EXPECT_NEAR(flipped, 50, 20);  // four standard deviations
  EXPECT_GT(seen.size(), 50u);
  // The central 52.5 of 80 columns in 8 steps: the first is centred on column 13.75 + 52.5 / 16, which begins half a pixel earlier.
  const auto [left, right] = ends(batches->next(Split::validation));
  EXPECT_NEAR(255 * (left * kImageStd[0] + kImageMean[0]), 20 + 2 * (13.75 + 52.5 / 16 - 0.5), 1.5);
  EXPECT_NEAR(255 * (right * kImageStd[0] + kImageMean[0]), 20 + 2 * (66.25 - 52.5 / 16 - 0.5), 1.5);
}

TEST(ImageFolder, ReducesLargePhotosWhileDecoding) {  // through libjpeg's eighth, with the same geometry
  const TemporaryFolder folder;
  std::vector<uint8_t> rgb;
  for (int y = 0; y < 640; ++y)
    for (int x = 0; x < 800; ++x) rgb.insert(rgb.end(), {uint8_t(x / 4), uint8_t(y / 4), 128});
  for (const char* name : {"a/1.jpg", "a/2.jpg"}) folder.write(name, encode_jpeg(rgb, 800, 640, 95));
  const auto batches = image_folder(folder.path(), {1, 32, 1}, 1, 1);
  const HostBatch& batch = batches->next(Split::validation);
  for (size_t i = 2; i < 30; ++i) {  // the central 560 x 560 at (120, 40)
    EXPECT_NEAR(255 * (batch.pixels[16 * 32 + i] * kImageStd[0] + kImageMean[0]), (120 + (double(i) + 0.5) * 17.5) / 4, 2);
    EXPECT_NEAR(255 * (batch.pixels[(32 + i) * 32 + 16] * kImageStd[1] + kImageMean[1]), (40 + (double(i) + 0.5) * 17.5) / 4, 2);
  }
}

TEST(ImageFolder, BadFilesAreErrorsThatNameThem) {
  for (const std::string& bad : {std::string(), std::string("text"), plain(10).substr(0, 300)}) {
    const TemporaryFolder folder;
    for (int i = 0; i < 5; ++i) folder.write("a/" + std::to_string(i) + ".jpg", plain(100));
    folder.write("a/3.jpg", bad);
    const auto batches = image_folder(folder.path(), {4, 16, 1}, 1, 3);
    EXPECT_THAT(error_of([&] { batches->next(Split::train); }), testing::AllOf(HasSubstr("a/3.jpg"), HasSubstr("cannot decode")));
    EXPECT_THAT(error_of([&] { inspect_data(folder.path(), true); }), HasSubstr("a/3.jpg"));
  }
  const TemporaryFolder folder;
  for (const char* name : {"a/1.jpg", "b/1.jpg"}) folder.write(name, plain(100));
  EXPECT_THAT(error_of([&] { image_folder(folder.path(), {4, 16, 1}, 1, 1); }), HasSubstr("has 2 classes, the model only 1"));
}

TEST(MakeImages, WritesTheSetOnce) {
  const TemporaryFolder folder;
  const ImagesRequest request{folder / "set/", 3, 10, 50, 40, 0.2};
  const MadeImages made = make_image_folder(request);
  EXPECT_EQ(made.train, 24);
  EXPECT_EQ(made.validation, 6);
  EXPECT_FALSE(made.reused);
  EXPECT_TRUE(make_image_folder(request).reused);
  const auto facts = inspect_data(folder / "set", true);
  EXPECT_EQ(facts["classes"], 3);
  EXPECT_EQ(facts["train_images"], 24);
  EXPECT_EQ(facts["validation_images"], 6);
  EXPECT_EQ(facts["decoded_images"], 30);
  EXPECT_EQ(facts["mean_pixels"], 2000);

  make_image_folder({folder / "again", 3, 10, 50, 40, 0.2});
  EXPECT_EQ(read_file(folder / "set/train/class-002/00009.jpg"), read_file(folder / "again/train/class-002/00009.jpg"));
  EXPECT_NE(read_file(folder / "set/train/class-002/00009.jpg"), read_file(folder / "set/train/class-002/00008.jpg"));
  EXPECT_FALSE(std::filesystem::exists(folder / "set.part"));
}

TEST(MakeImages, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  folder.write("other/file", "x");
  const auto making = [](const ImagesRequest& request) { return error_of([&] { make_image_folder(request); }); };
  EXPECT_THAT(making({folder / "other"}), HasSubstr("already holds something else"));
  EXPECT_THAT(making({folder / "new", 0}), HasSubstr("--classes"));
  EXPECT_THAT(making({folder / "new", 2, 1}), HasSubstr("--per-class"));
  EXPECT_THAT(making({folder / "new", 2, 4, 4, 100}), HasSubstr("--size"));
  EXPECT_THAT(making({folder / "other/file/new", 2, 4, 16, 16}), HasSubstr("cannot write"));
}

}  // namespace
}  // namespace erg
