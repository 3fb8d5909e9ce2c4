// Walking an image folder.
#include "data/image_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "core/error.hpp"
#include "data/batches.hpp"

namespace erg {
namespace fs = std::filesystem;
namespace {

Error fail(const std::string& why, const fs::path& where) {
  return Error(ErrorKind::usage, why, where.string(),
               "give a folder with one folder of JPEG files per class, or make one with `ergometer data images`");
}

// Names in a folder that `wanted` accepts, sorted by bytes.
template <class Wanted>
std::vector<std::string> names(const fs::path& folder, Wanted&& wanted) {
  std::vector<std::string> found;
  std::error_code failure;
  for (fs::directory_iterator it(folder, failure), end; !failure && it != end; it.increment(failure)) {
    const std::string name = it->path().filename().string();
    if (name[0] != '.' && wanted(*it)) found.push_back(name);
  }
  if (failure) throw fail("cannot read the folder: " + failure.message(), folder);
  std::sort(found.begin(), found.end());
  return found;
}

// A link that leads nowhere or to itself may have been a class: it is an error, not a class less.
bool is_folder(const fs::directory_entry& entry) {
  std::error_code failure;
  const bool folder = entry.is_directory(failure);
  if (failure || (!folder && entry.is_symlink(failure) && !entry.exists(failure)))
    throw fail("cannot follow the link" + (failure ? ": " + failure.message() : std::string()), entry.path());
  return folder;
}

// Most file systems tell folders, links and files apart without a look at each.
bool is_jpeg(const fs::directory_entry& entry) {
  std::string ending = entry.path().extension().string();
  for (char& c : ending) c = char(std::tolower(uint8_t(c)));
  if (ending != ".jpg" && ending != ".jpeg") return false;
  std::error_code failure;
  if (!entry.is_regular_file(failure)) throw fail(failure ? "cannot read the image: " + failure.message() : "is not a file", entry.path());
  return true;
}

fs::path training_folder(const fs::path& root) {
  std::error_code ignored;
  return fs::is_directory(root / "train", ignored) ? root / "train" : root;
}

std::vector<std::string> classes_of(const fs::path& folder) {
  std::vector<std::string> classes = names(folder, is_folder);
  if (classes.empty()) throw fail("has no folders of images", folder);
  return classes;
}

std::vector<LabelledImage> images_of(const fs::path& folder, const std::vector<std::string>& classes) {
  std::vector<LabelledImage> images;
  for (const std::string& name : names(folder, is_folder)) {
    const auto place = std::lower_bound(classes.begin(), classes.end(), name);
    if (place == classes.end() || *place != name) throw fail("is not a class of the training images", folder / name);
    const std::vector<std::string> files = names(folder / name, is_jpeg);
    if (files.empty()) throw fail("the class has no JPEG files", folder / name);
    for (const std::string& file : files) images.push_back({(folder / name / file).string(), int32_t(place - classes.begin())});
  }
  return images;
}

}  // namespace

ImageList list_images(const std::string& folder) {
  std::error_code ignored;
  const fs::path root(folder), train = training_folder(root);
  ImageList list;
  list.classes = classes_of(train);
  const std::vector<LabelledImage> images = images_of(train, list.classes);
  if (train != root && fs::is_directory(root / "val", ignored)) {
    list.train = images;
    list.validation = images_of(root / "val", list.classes);
    if (list.validation.empty()) throw fail("has no folders of images", root / "val");
    return list;
  }
  for (size_t i = 0; i < images.size(); ++i) (i % 10 == 0 ? list.validation : list.train).push_back(images[i]);
  if (list.train.empty()) throw fail("one image is too few", root);
  return list;
}

int64_t image_classes(const std::string& folder) { return int64_t(classes_of(training_folder(folder)).size()); }

}  // namespace erg
