// Drawing the images: the pattern of the class (class_pattern.hpp), at a random phase and brightness, with noise as fine as film grain.
#include "data/make_images.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/interrupt.hpp"
#include "core/rng.hpp"
#include "data/class_pattern.hpp"
#include "data/jpeg.hpp"

namespace erg {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
namespace {

// Together they give files of 500 x 375 about 70 kB, close to ImageNet's photos, so that reading and decoding cost what they cost there.
constexpr int kQuality = 85;
constexpr float kGrain = 32;

void draw(std::vector<uint8_t>& rgb, const ImagesRequest& request, int64_t label, uint64_t key) {
  const ClassPattern pattern(label);
  const float shift = 2 * std::numbers::pi_v<float> * random_uniform(key, 0, 0), light = 24 * (2 * random_uniform(key, 0, 1) - 1);
  AxisWave x[3], y;
  for (int c = 0; c < 3; ++c) x[c].fill(request.width, pattern.waves_x, pattern.phase[c] + shift);
  y.fill(request.height, pattern.waves_y, 0);
  rgb.resize(size_t(request.width * request.height * 3));
  uint64_t counter = key;
  uint8_t* to = rgb.data();
  for (size_t row = 0; row < size_t(request.height); ++row) {
    for (size_t column = 0; column < size_t(request.width); ++column) {
      uint64_t noise = mix64(++counter);
      for (int c = 0; c < 3; ++c, noise >>= 16) {
        const float wave = x[c].sine[column] * y.cosine[row] + x[c].cosine[column] * y.sine[row];
        const float grain = float(int(noise & 0xffff) - 0x8000) * (kGrain / 0x8000);
        *to++ = uint8_t(std::clamp(128 + 56 * pattern.colour[c] + 40 * wave + light + grain, 0.0f, 255.0f));
      }
    }
  }
}

// Runs work(i) for all i < n on every core; the first exception stops all and is thrown on.
template <class Work>
void on_all_cores(int64_t n, Work&& work) {
  std::atomic<int64_t> next = 0;
  std::exception_ptr error;
  std::mutex mutex;
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t) {
      threads.emplace_back([&] {
        try {
          for (int64_t i = next++; i < n; i = next++) work(i);
        } catch (...) {
          std::lock_guard lock(mutex);
          error = std::current_exception();
          next = n;
        }
      });
    }
  }
  if (error) std::rethrow_exception(error);
}

void check(const ImagesRequest& r) {
  const auto require = [](bool ok, const char* message, const char* where) {
    if (!ok) throw Error(ErrorKind::usage, message, where);
  };
  require(!r.out.empty(), "no folder was given", "--out");
  require(r.classes >= 1 && r.classes <= 100000, "must be 1 to 100000", "--classes");
  require(r.per_class >= 2 && r.per_class <= 1000000, "must be 2 to 1000000, one of them to validate with", "--per-class");
  require(std::min(r.width, r.height) >= 8 && std::max(r.width, r.height) <= 65500, "each side must have 8 to 65500 pixels", "--size");
  require(r.validation > 0 && r.validation < 1, "must lie between 0 and 1", "--validation");
}

}  // namespace

MadeImages make_image_folder(const ImagesRequest& request) {
  check(request);
  const fs::path named = request.out, folder = named.has_filename() ? named : named.parent_path();  // without a slash at the end
  const int64_t held_back = std::clamp(int64_t(double(request.per_class) * request.validation), int64_t(1), request.per_class - 1);
  MadeImages made{request.classes * (request.per_class - held_back), request.classes * held_back};
  const std::string data = Json{{"schema_version", 1},
                                {"kind", "images"},
                                {"classes", request.classes},
                                {"train_images", made.train},
                                {"validation_images", made.validation},
                                {"width", request.width},
                                {"height", request.height},
                                {"jpeg_quality", kQuality},
                                {"seed", request.seed}}
                               .dump(2) +
                           "\n";
  std::error_code failure;
  if (fs::exists(folder / "data.json", failure) && read_file(folder / "data.json") == data) {
    made.reused = true;
    return made;
  }
  if (fs::exists(folder, failure) && !fs::is_empty(folder, failure))
    throw Error(ErrorKind::usage, "already holds something else", folder.string(), "remove it or name another --out");

  // Made aside and renamed: a folder of that name is whole or not there, whenever this is interrupted.
  const fs::path aside = folder.string() + ".part";
  fs::remove_all(aside, failure);
  const auto place = [&](int64_t label, int64_t image) {
    return aside / (image < held_back ? "val" : "train") / fmt::format("class-{:03}", label) / fmt::format("{:05}.jpg", image);
  };
  for (int64_t label = 0; label < request.classes; ++label)
    for (const int64_t image : {int64_t(0), request.per_class - 1}) fs::create_directories(place(label, image).parent_path(), failure);
  on_all_cores(request.classes * request.per_class, [&](int64_t i) {
    if (interrupted()) throw Error(ErrorKind::failed, "interrupted by a signal", "data images");
    thread_local std::vector<uint8_t> rgb;
    const int64_t label = i / request.per_class;
    draw(rgb, request, label, random_bits(request.seed, 6000, uint64_t(i)));
    write_file_atomically(place(label, i % request.per_class), encode_jpeg(rgb, int(request.width), int(request.height), kQuality),
                          Synced::nothing);
  });
  write_file_atomically(aside / "data.json", data);
  fs::rename(aside, folder, failure);
  if (failure) throw Error(ErrorKind::failed, "cannot make the folder: " + failure.message(), folder.string());
  return made;
}

}  // namespace erg
