// Looking at data the way training will, through the same readers.
#include "data/inspect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "core/error.hpp"
#include "core/file.hpp"
#include "data/batches.hpp"
#include "data/image_list.hpp"
#include "data/jpeg.hpp"
#include "data/token_file.hpp"
#include "data/tokenizer.hpp"

namespace erg {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
namespace {

// Its token count, after all ids were seen to lie inside the vocabulary.
int64_t checked_size(const TokenFile& file, int64_t vocabulary) {
  for (int64_t i = 0; i < file.size(); ++i)
    if (file[i] < 0 || file[i] >= vocabulary)
      throw Error(ErrorKind::usage, fmt::format("token {} at position {} is outside the vocabulary of {}", file[i], i, vocabulary),
                  file.path(), "make the folder again with `ergometer data tokens`");
  return file.size();
}

std::string on_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  text.erase(std::unique(text.begin(), text.end(), [](char a, char b) { return a == ' ' && b == ' '; }), text.end());
  return text;
}

Json inspect_tokens(const fs::path& folder) {
  const int64_t vocabulary = token_vocabulary(folder.string());
  const TokenFile train((folder / "train.bin").string()), validation((folder / "val.bin").string());
  const Tokenizer tokenizer(read_file(folder / "tokenizer.model"));
  if (tokenizer.vocabulary() != vocabulary)
    throw Error(ErrorKind::usage,
                fmt::format("data.json says a vocabulary of {}, tokenizer.model has {}", vocabulary, tokenizer.vocabulary()),
                folder.string(), "make the folder again with `ergometer data tokens`");
  Json facts{{"kind", "tokens"},
             {"vocabulary", vocabulary},
             {"train_tokens", checked_size(train, vocabulary)},
             {"validation_tokens", checked_size(validation, vocabulary)}};
  std::vector<int> beginning;
  for (int64_t i = 0; i < std::min<int64_t>(train.size(), 40); ++i) beginning.push_back(train[i]);
  facts["begins"] = on_one_line(tokenizer.decode(beginning));
  facts["made_from"] = Json::parse(read_file(folder / "data.json")).value("made_from", Json());
  return facts;
}

Json inspect_images(const fs::path& folder, bool every_image) {
  const ImageList list = list_images(folder.string());
  JpegDecoder decoder;
  uint64_t decoded = 0, pixels = 0, bytes = 0;
  for (const auto* images : {&list.train, &list.validation}) {
    for (const LabelledImage& image : std::span(*images).first(every_image ? images->size() : 1)) {
      const std::string file = read_file(image.path);
      decoder.open({reinterpret_cast<const uint8_t*>(file.data()), file.size()}, image.path);
      decoder.decode({0, 0, decoder.width(), decoder.height()}, 1);
      ++decoded;
      pixels += uint64_t(decoder.width()) * uint64_t(decoder.height());
      bytes += file.size();
    }
  }
  return {{"kind", "images"},
          {"classes", list.classes.size()},
          {"train_images", list.train.size()},
          {"validation_images", list.validation.size()},
          {"decoded_images", decoded},
          {"mean_pixels", pixels / decoded},
          {"mean_file_bytes", bytes / decoded},
          {"class_names", list.classes}};
}

}  // namespace

Json inspect_data(const std::string& folder, bool every_image) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) throw Error(ErrorKind::usage, "is not a folder", folder, "make one with `ergometer data`");
  return fs::exists(fs::path(folder) / "train.bin", ignored) ? inspect_tokens(folder) : inspect_images(folder, every_image);
}

}  // namespace erg
