// What reading data costs on one core: images/s of the JPEG pipeline, in whole and by part, and tokens/s of token files.
// ERG_BENCH_IMAGES names an image folder (bench/jpeg_peers.py makes one like ImageNet's); without it one by formula is made.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "core/file.hpp"
#include "core/rng.hpp"
#include "data/batches.hpp"
#include "data/crop.hpp"
#include "data/image_list.hpp"
#include "data/image_loader.hpp"
#include "data/make_images.hpp"

namespace erg {
namespace {

constexpr int kSize = 224;

// Gone when the program ends.
const std::filesystem::path& scratch() {
  static const struct Folder {
    std::filesystem::path path = std::filesystem::temp_directory_path() / ("ergometer-bench-" + std::to_string(getpid()));
    Folder() { std::filesystem::create_directories(path); }
    ~Folder() { std::filesystem::remove_all(path); }
  } folder;
  return folder.path;
}

std::string image_folder_name() {
  if (const char* given = std::getenv("ERG_BENCH_IMAGES")) return given;
  const std::string made = (scratch() / "images").string();
  make_image_folder({made, 2, 50});
  return made;
}

// Files in memory: what is measured is the processor, not the disk.
const std::vector<std::string>& photos() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> files;
    for (const LabelledImage& image : list_images(image_folder_name()).train) files.push_back(read_file(image.path));
    return files;
  }();
  return all;
}

std::span<const uint8_t> photo(int64_t i) {
  const std::string& file = photos()[size_t(i) % photos().size()];
  return {reinterpret_cast<const uint8_t*>(file.data()), file.size()};
}

void images_per_second(benchmark::State& state) {
  state.counters["images_per_s"] = benchmark::Counter(double(state.iterations()), benchmark::Counter::kIsRate);
}

void load(benchmark::State& state, bool augment) {
  ImageLoader loader;
  std::vector<float> out(3 * kSize * kSize);
  int64_t i = 0;
  photos();
  for (auto _ : state) {
    loader.load(photo(i), "photo", augment, random_bits(1, 0, uint64_t(i)), kSize, out.data());
    benchmark::DoNotOptimize(out.data());
    ++i;
  }
  images_per_second(state);
}
void BM_TrainingImage(benchmark::State& state) { load(state, true); }
void BM_ValidationImage(benchmark::State& state) { load(state, false); }
BENCHMARK(BM_TrainingImage);
BENCHMARK(BM_ValidationImage);

void BM_DecodeWhole(benchmark::State& state) {
  JpegDecoder decoder;
  int64_t i = 0;
  photos();
  for (auto _ : state) {
    decoder.open(photo(i++), "photo");
    benchmark::DoNotOptimize(decoder.decode({0, 0, decoder.width(), decoder.height()}, 1).pixels);
  }
  images_per_second(state);
}
BENCHMARK(BM_DecodeWhole);

void BM_ResizeCrop(benchmark::State& state) {
  JpegDecoder decoder;
  Resizer resizer;
  std::vector<float> out(3 * kSize * kSize);
  decoder.open(photo(0), "photo");
  const int width = decoder.width(), height = decoder.height();
  const DecodedPart part = decoder.decode({0, 0, width, height}, 1);
  uint64_t i = 0;
  for (auto _ : state) {
    const uint64_t key = random_bits(1, 0, i++);
    resizer.run(part, random_resized_crop(width, height, key), kSize, key & 1, out.data());
    benchmark::DoNotOptimize(out.data());
  }
  images_per_second(state);
}
BENCHMARK(BM_ResizeCrop);

void BM_SyntheticImage(benchmark::State& state) {
  const auto batches = synthetic_images({1, kSize, 1000}, 1);
  for (auto _ : state) benchmark::DoNotOptimize(batches->next(Split::train).pixels.data());
  images_per_second(state);
}
BENCHMARK(BM_SyntheticImage);

void tokens_per_second(benchmark::State& state, Batches& batches) {
  for (auto _ : state) benchmark::DoNotOptimize(batches.next(Split::train).tokens.data());
  state.counters["tokens_per_s"] = benchmark::Counter(double(state.iterations()) * 8 * 1024, benchmark::Counter::kIsRate);
}

void BM_SyntheticTokens(benchmark::State& state) { tokens_per_second(state, *synthetic_tokens({8, 1024, 50257}, 1)); }
BENCHMARK(BM_SyntheticTokens);

// 20 million tokens of zeros, in the page cache: the file's content does not matter, its reading does.
void BM_TokenFile(benchmark::State& state) {
  const auto path = scratch() / "tokens.bin";
  constexpr uint32_t kTokens = 20'000'000;
  std::string bytes(1024 + 2 * kTokens, 0);
  const uint32_t header[3] = {20240520, 1, kTokens};
  std::copy_n(reinterpret_cast<const char*>(header), sizeof header, bytes.begin());
  write_file_atomically(path, bytes);
  tokens_per_second(state, *token_files(path.string(), {8, 1024, 50257}, 1));
}
BENCHMARK(BM_TokenFile);

}  // namespace
}  // namespace erg

BENCHMARK_MAIN();
