// Looking at data the way training will, through the same readers.
#include "data/inspect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <span>

#include "core/error.hpp"
#include "core/file.hpp"
#include "data/batches.hpp"
#include "data/image_list.hpp"
#include "data/jpeg.hpp"
#include "data/token_source.hpp"
#include "data/tokenizer.hpp"

namespace erg {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
namespace {

// The largest id of a text, after all were seen to lie inside the vocabulary.
int64_t largest_id(const TokenText& text, int64_t vocabulary) {
  std::vector<int32_t> piece;
  int32_t largest = 0;
  for (int64_t at = 0; at < text.size(); at += int64_t(piece.size())) {
    piece.resize(size_t(std::min<int64_t>(text.size() - at, 1 << 16)));
    text.read(at, piece, vocabulary);
    largest = std::max(largest, *std::max_element(piece.begin(), piece.end()));
  }
  return largest;
}

std::string on_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  text.erase(std::unique(text.begin(), text.end(), [](char a, char b) { return a == ' ' && b == ' '; }), text.end());
  return text;
}

Json inspect_tokens(const fs::path& folder) {
  const int64_t vocabulary = token_vocabulary(folder.string());
  const TokenText train({(folder / "train.bin").string()}), validation({(folder / "val.bin").string()});
  const Tokenizer tokenizer(read_file(folder / "tokenizer.model"));
  if (tokenizer.vocabulary() != vocabulary)
    throw Error(ErrorKind::usage,
                fmt::format("data.json says a vocabulary of {}, tokenizer.model has {}", vocabulary, tokenizer.vocabulary()),
                folder.string(), "make the folder again with `ergometer data tokens`");
  for (const TokenText* text : {&train, &validation}) largest_id(*text, vocabulary);
  Json facts{{"kind", "tokens"}, {"vocabulary", vocabulary}, {"train_tokens", train.size()}, {"validation_tokens", validation.size()}};
  std::vector<int32_t> beginning(size_t(std::min<int64_t>(train.size(), 40)));
  train.read(0, beginning, vocabulary);
  facts["begins"] = on_one_line(tokenizer.decode(beginning));
  facts["made_from"] = Json::parse(read_file(folder / "data.json")).value("made_from", Json());
  return facts;
}

// Files of other programs: what they say of themselves. Whether an id is too large only the tokenizer knows.
Json inspect_files(const std::string& data) {
  Json sources = Json::array();
  int64_t tokens = 0, largest = 0;
  for (const auto& [weight, place] : parse_blend(data)) {
    std::error_code ignored;
    Json facts{{"place", place}, {"weight", weight}};
    if (fs::is_directory(place, ignored)) {
      facts.update(inspect_tokens(place));
      tokens += facts["train_tokens"].get<int64_t>();
      largest = std::max(largest, facts["vocabulary"].get<int64_t>() - 1);
    } else {
      const TokenText text(token_files_at(place));
      facts["files"] = text.files().size();
      facts["type"] = name_of(text.files()[0].layout().type);
      facts["tokens"] = text.size();
      if (text.documents() > 0) facts["documents"] = text.documents();
      facts["largest_id"] = largest_id(text, std::numeric_limits<int32_t>::max());
      tokens += text.size();
      largest = std::max(largest, facts["largest_id"].get<int64_t>());
    }
    sources.push_back(facts);
  }
  return {{"kind", "tokens"}, {"tokens", tokens}, {"needs_vocabulary", largest + 1}, {"sources", sources}};
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

Json inspect_data(const std::string& data, bool every_image) {
  std::error_code ignored;
  if (!fs::is_directory(data, ignored)) return inspect_files(data);
  return fs::exists(fs::path(data) / "train.bin", ignored) ? inspect_tokens(data) : inspect_images(data, every_image);
}

}  // namespace erg
