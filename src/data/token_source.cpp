// From words to files, and from files to the two splits.
#include "data/token_source.hpp"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <set>
#include <sstream>

#include "core/error.hpp"

namespace erg {
namespace fs = std::filesystem;
namespace {

bool exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

std::optional<double> number(const std::string& word) {
  double value = 0;
  const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (failure != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

std::vector<std::string> matches(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> paths;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  return paths;
}

// PREFIX.bin for PREFIX.idx, everything else as it is.
std::string bin_of(const std::string& path) { return path.ends_with(".idx") ? path.substr(0, path.size() - 4) + ".bin" : path; }

}  // namespace

std::vector<WeightedPlace> parse_blend(const std::string& data) {
  constexpr const char* kFix = "write a path, a Megatron prefix or a glob, or several as \"0.7 PLACE 0.3 PLACE\"";
  std::vector<std::string> words;
  std::istringstream in(data);
  for (std::string word; in >> word;) words.push_back(word);
  if (words.empty()) throw Error(ErrorKind::usage, "names no data", "workload.data", kFix);
  if (words.size() == 1 || exists(data) || exists(data + ".idx")) return {{1.0, data}};
  if (words.size() % 2 != 0)
    throw Error(ErrorKind::usage, fmt::format("'{}' has a weight or a place too many", data), "workload.data", kFix);
  std::vector<WeightedPlace> places;
  double sum = 0;
  for (size_t i = 0; i < words.size(); i += 2) {
    const auto weight = number(words[i]);
    if (!weight || !std::isfinite(*weight) || *weight <= 0)
      throw Error(ErrorKind::usage, fmt::format("'{}' is not a weight above 0", words[i]), "workload.data", kFix);
    places.push_back({*weight, words[i + 1]});
    sum += *weight;
  }
  if (!std::isfinite(sum)) throw Error(ErrorKind::usage, "the weights are too large to add", "workload.data", kFix);
  for (WeightedPlace& p : places) p.weight /= sum;
  return places;
}

std::vector<std::string> token_files_at(const std::string& place) {
  std::vector<std::string> paths;
  if (exists(place))
    paths = {place};
  else if (exists(place + ".idx") || exists(place + ".bin"))
    paths = {place + ".bin"};
  else
    paths = matches(place);
  std::set<std::string> files;
  for (const std::string& path : paths) files.insert(bin_of(path));
  if (files.empty())
    throw Error(ErrorKind::usage, "No such file, prefix, glob or folder", place,
                "make token files with `ergometer data tokens`, or correct the path");
  for (const std::string& file : files) {
    std::error_code ignored;
    if (!exists(file) && fs::is_symlink(file, ignored))
      throw Error(ErrorKind::usage, "is a link that leads nowhere or in a circle", file, "mend the link");
    if (!exists(file)) throw Error(ErrorKind::usage, "the .idx has no .bin beside it", file, "copy both files");
  }
  return {files.begin(), files.end()};
}

TokenSource::TokenSource(const std::string& place, int64_t sequence) : place_(place) {
  std::error_code ignored;
  if (fs::is_directory(place, ignored)) {
    vocabulary_ = token_vocabulary(place);
    for (const char* name : {"train.bin", "val.bin"}) texts_.emplace_back(std::vector{(fs::path(place) / name).string()});
    for (size_t split = 0; split < 2; ++split) parts_[split] = {split, 0, texts_[split].size()};
  } else {
    texts_.emplace_back(token_files_at(place));
    const int64_t size = texts_[0].size(), held = sequence * held_back_windows((size - 1) / sequence) + 1;
    parts_[int(Split::train)] = {0, 0, size - held};
    parts_[int(Split::validation)] = {0, size - held, held};
    if (size - held <= sequence)
      throw Error(ErrorKind::usage,
                  fmt::format("{} tokens are too few for a sequence of {} to train on and one to hold back ({} tokens)", size, sequence,
                              2 * sequence + 2),
                  place, "use a shorter sequence or more text");
  }
  for (const Part& part : parts_)
    if (part.size <= sequence)
      throw Error(ErrorKind::usage, fmt::format("{} tokens are too few for a sequence of {}", part.size, sequence),
                  texts_[part.text].files()[0].path(), "use a shorter sequence or more text");
}

std::vector<std::string> TokenSource::files() const {
  std::vector<std::string> files;
  for (const TokenText& text : texts_)
    for (const TokenFile& file : text.files()) files.push_back(file.path());
  return files;
}

void TokenSource::read(Split split, int64_t begin, std::span<int32_t> out, int64_t vocabulary) const {
  const Part& part = parts_[int(split)];
  texts_[part.text].read(part.begin + begin, out, vocabulary);
}

}  // namespace erg
