// Image files and folders as they should not be: what is decoded, what is refused, and that neither takes unbounded memory.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "data/batches.hpp"
#include "data/image_list.hpp"
#include "data/image_loader.hpp"
#include "pillow_jpegs.hpp"
#include "temporary_folder.hpp"

namespace erg {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::vector<uint8_t> pillow_jpeg(const std::string& name) {
  for (const pillow::Jpeg& jpeg : pillow::kJpegs)
    if (jpeg.name == name) return pillow::bytes(jpeg);
  throw std::runtime_error("no such image");
}

// The frame header (SOF0 or SOF2) of a JPEG: its precision, then height and width, two bytes each.
size_t frame_of(const std::vector<uint8_t>& file) {
  for (size_t i = 0; i + 9 < file.size(); ++i)
    if (file[i] == 0xff && (file[i + 1] == 0xc0 || file[i + 1] == 0xc2)) return i + 4;
  throw std::runtime_error("no frame header");
}

std::vector<uint8_t> with_size(std::vector<uint8_t> file, int width, int height) {
  const size_t at = frame_of(file);
  for (const auto& [offset, value] : {std::pair{1, height}, {3, width}}) {
    file[at + size_t(offset)] = uint8_t(value >> 8);
    file[at + size_t(offset) + 1] = uint8_t(value);
  }
  return file;
}

std::string loading(std::span<const uint8_t> file, bool augment = true) {
  ImageLoader loader;
  std::vector<float> out(3 * 224 * 224);
  return error_of([&] { loader.load(file, "photo.jpg", augment, 5, 224, out.data()); });
}

int64_t peak_memory() {  // bytes
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t(usage.ru_maxrss) * 1024;
}

TEST(HostileImage, OnePixelIsAnImage) {
  const auto file = pillow::bytes(pillow::kOnePixel);
  ImageLoader loader;
  std::vector<float> out(3 * 8 * 8);
  for (const bool augment : {true, false}) {
    loader.load(file, "one", augment, 5, 8, out.data());
    for (size_t c = 0; c < 3; ++c)
      for (size_t i = 0; i < 64; ++i)
        ASSERT_NEAR(255 * (out[c * 64 + i] * kImageStd[c] + kImageMean[c]), pillow::kOnePixel.samples[0].rgb[c], 1e-3);
  }
}

TEST(HostileImage, OtherPrecisionsAreRefused) {
  for (const int bits : {12, 16}) {
    auto file = pillow_jpeg("colour");
    file[frame_of(file)] = uint8_t(bits);
    EXPECT_THAT(loading(file), AllOf(HasSubstr("photo.jpg"), HasSubstr("precision " + std::to_string(bits))));
  }
}

TEST(HostileImage, APngIsRefused) {
  const std::string png = "\x89PNG\r\n\x1a\n and so on";
  EXPECT_THAT(loading({reinterpret_cast<const uint8_t*>(png.data()), png.size()}),
              AllOf(HasSubstr("photo.jpg"), HasSubstr("starts with 0x89 0x50")));
}

TEST(HostileImage, NoSizeIsRefused) {
  for (const auto& [width, height] : {std::pair{0, 16}, {24, 0}, {0, 0}})
    EXPECT_THAT(loading(with_size(pillow_jpeg("colour"), width, height)), HasSubstr("photo.jpg"));
}

TEST(HostileImage, AHeaderThatPromisesTooMuchTakesNoMemory) {
  const int64_t before = peak_memory();
  for (const char* name : {"colour", "progressive", "grey", "cmyk"})
    for (const bool augment : {true, false})
      EXPECT_THAT(loading(with_size(pillow_jpeg(name), 65500, 65500), augment),
                  AllOf(HasSubstr("photo.jpg"), HasSubstr("65500 x 65500 pixels are more than 178956970")));
  EXPECT_LT(peak_memory() - before, int64_t(64) << 20);
}

TEST(HostileImage, WhatIsAllowedButNotThereIsAnError) {  // 170 million pixels in 700 bytes
  for (const char* name : {"colour", "grey", "cmyk"})
    EXPECT_THAT(loading(with_size(pillow_jpeg(name), 13000, 13000)), HasSubstr("photo.jpg"));
}

TEST(HostileImage, EndlessScansAreRefused) {  // a progressive image whose last scan is repeated: each is a pass over the whole
  const auto good = pillow_jpeg("progressive");
  size_t scan = good.size();
  while (!(good[scan - 1] == 0xda && good[scan - 2] == 0xff)) --scan;
  // The first scan, which only says the DC coefficients, may come again: libjpeg warns and goes on.
  size_t first = frame_of(good), next = 0;
  while (!(good[first] == 0xff && good[first + 1] == 0xda)) ++first;
  for (next = first + 2; !(good[next] == 0xff && good[next + 1] != 0); ++next) {}
  std::vector<uint8_t> file(good.begin(), good.begin() + int64_t(next));
  for (int i = 0; i < 300; ++i) file.insert(file.end(), good.begin() + int64_t(first), good.begin() + int64_t(next));
  file.insert(file.end(), {0xff, 0xd9});
  EXPECT_THAT(loading(file), AllOf(HasSubstr("photo.jpg"), HasSubstr("more than 100 scans")));
}

struct PhotoFolder : TemporaryFolder {
  PhotoFolder() {
    const auto photo = pillow_jpeg("colour");
    for (const char* name : {"a/1.jpg", "a/2.jpg", "b/1.jpg", "b/2.jpg"})
      write(name, {reinterpret_cast<const char*>(photo.data()), photo.size()});
  }
  std::string listing() const {
    return error_of([&] { list_images(path()); });
  }
};

TEST(HostileFolder, AFolderNamedAsAnImage) {
  const PhotoFolder folder;
  ASSERT_EQ(folder.listing(), "");
  std::filesystem::create_directories(folder / "a/x.jpg");
  EXPECT_THAT(folder.listing(), AllOf(HasSubstr("a/x.jpg"), HasSubstr("is not a file")));
}

TEST(HostileFolder, APipeNamedAsAnImageDoesNotHang) {
  const PhotoFolder folder;
  ASSERT_EQ(mkfifo((folder / "a/x.jpg").c_str(), 0600), 0);
  EXPECT_THAT(folder.listing(), AllOf(HasSubstr("a/x.jpg"), HasSubstr("is not a file")));
  ImageLoader loader;
  float out[3 * 64];
  EXPECT_THAT(error_of([&] { loader.load(folder / "a/x.jpg", false, 0, 8, out); }), HasSubstr("it is not a file"));
}

TEST(HostileFolder, LinksThatLeadNowhereOrInCircles) {
  for (const char* target : {"x.jpg", "gone.jpg"}) {
    const PhotoFolder folder;
    std::filesystem::create_symlink(target, folder / "a/x.jpg");
    EXPECT_THAT(folder.listing(), AllOf(HasSubstr("a/x.jpg"), HasSubstr("cannot read the image"))) << target;
  }
  for (const char* target : {"loop", "gone"}) {  // these would have been a class
    const PhotoFolder folder;
    std::filesystem::create_symlink(target, folder / "loop");
    EXPECT_THAT(folder.listing(), AllOf(HasSubstr("/loop"), HasSubstr("cannot follow the link"))) << target;
  }
  const PhotoFolder folder;
  std::filesystem::create_directory_symlink(".", folder / "a/up");  // inside a class folders do not count
  EXPECT_EQ(folder.listing(), "");
  std::filesystem::create_directory_symlink("b", folder / "c");  // a link to a class is a class
  EXPECT_EQ(list_images(folder.path()).classes.size(), 3u);
}

TEST(HostileFolder, AnEmptyClass) {
  const PhotoFolder folder;
  std::filesystem::create_directories(folder / "c");
  EXPECT_THAT(folder.listing(), AllOf(HasSubstr("/c: the class has no JPEG files"), HasSubstr("fix:")));
}

TEST(HostileFolder, AFileThatDisappearsWhileTraining) {
  const PhotoFolder folder;
  const auto batches = image_folder(folder.path(), {2, 8, 2}, 1, 2);
  batches->next(Split::train);
  std::filesystem::remove(folder / "b/2.jpg");
  EXPECT_THAT(error_of([&] {
                for (int i = 0; i < 20; ++i) batches->next(Split::train);
              }),
              AllOf(HasSubstr("b/2.jpg"), HasSubstr("cannot read the image: No such file")));
}

TEST(HostileFolder, AFileThatMayNotBeRead) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const PhotoFolder folder;
  std::filesystem::permissions(folder / "a/2.jpg", std::filesystem::perms::none);
  const auto batches = image_folder(folder.path(), {3, 8, 2}, 1, 1);
  EXPECT_THAT(error_of([&] { batches->next(Split::train); }), AllOf(HasSubstr("a/2.jpg"), HasSubstr("Permission denied")));
}

}  // namespace
}  // namespace erg
