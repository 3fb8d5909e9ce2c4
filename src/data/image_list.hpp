// The files of an image folder and their classes.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace erg {

struct LabelledImage {
  std::string path;
  int32_t label;
};

struct ImageList {
  std::vector<std::string> classes;  // sorted by name; a label is a place in it
  std::vector<LabelledImage> train, validation;
};

// Reads FOLDER/CLASS/*.jpg, or FOLDER/train/CLASS/*.jpg and FOLDER/val/CLASS/*.jpg; without val/ every tenth image is held back.
// Files count by their ending (.jpg, .jpeg, any case); names that begin with a dot do not. Sorted, so that the order is the same
// everywhere. Throws Error(usage) when a class has no images, or val/ has a class that train/ has not.
ImageList list_images(const std::string& folder);

}  // namespace erg
