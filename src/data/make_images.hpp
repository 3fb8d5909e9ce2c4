// `ergometer data images`: a small learnable set of JPEG files, for runs that should read and decode real files without any download.
#pragma once
#include <cstdint>
#include <string>

namespace erg {

struct ImagesRequest {
  std::string out{};  // folder, made when missing
  int64_t classes = 10, per_class = 60;
  int64_t width = 500, height = 375;  // the mean size of ImageNet's photos
  double validation = 0.1;            // this share of each class, at least one image, goes to val/
  uint64_t seed = 1;
};

struct MadeImages {
  int64_t train = 0, validation = 0;
  bool reused = false;  // the folder already held this set
};

// Writes OUT/train/class-003/00017.jpg, OUT/val/… and OUT/data.json. A folder that was made from the same request is left alone. The same
// request gives the same pixels. Throws Error(usage) on impossible requests and on a folder that holds something else,
// Error(failed) when it cannot write.
MadeImages make_image_folder(const ImagesRequest& request);

}  // namespace erg
