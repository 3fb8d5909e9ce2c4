// Making a token folder: sample lines for the tokenizer, train it, then encode every document into its two splits.
#include "data/token_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/interrupt.hpp"
#include "data/text.hpp"
#include "data/token_file.hpp"
#include "data/tokenizer.hpp"

namespace erg {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
namespace {

// Byte-pair encoding learns nothing more from larger samples, but its time and memory grow with them.
constexpr size_t kTrainingBytes = 16 << 20;

struct Source {
  std::string path;
  size_t bytes;
  uint64_t hash;
};

// Files are written aside: whenever this ends, what has a name is whole.
void stop_if_interrupted() {
  if (interrupted()) throw Error(ErrorKind::failed, "interrupted by a signal", "data tokens");
}

std::vector<Source> look_at(const std::vector<std::string>& inputs) {
  std::vector<Source> sources;
  for (const std::string& path : inputs) {
    const std::string text = read_text(path);
    sources.push_back({path, text.size(), fnv1a(text)});
  }
  return sources;
}

// Gives the tokenizer lines of all sources, evenly thinned out to kTrainingBytes.
std::string train(const TokenizerParameters& parameters, const std::vector<Source>& sources) {
  size_t total = 0, source = 0, at = 0;
  for (const Source& s : sources) total += s.bytes;
  const double keep = std::min(1.0, double(kTrainingBytes) / double(total));
  double due = 0;
  std::string text;
  return train_tokenizer(parameters, [&]() -> std::optional<std::string> {
    for (;;) {
      if (at == text.size()) {
        if (source == sources.size()) return std::nullopt;
        text = read_text(sources[source++].path);
        at = 0;
      }
      stop_if_interrupted();
      const size_t begin = at;
      at = end_of_piece(text, begin);
      due += keep * double(at - begin);
      if (due < double(at - begin)) continue;
      due -= double(at - begin);
      return text.substr(begin, at - begin - (text[at - 1] == '\n'));
    }
  });
}

// Encodes one document into the two files; every stretch of a split ends with end-of-text.
void encode(const std::string& text, const Tokenizer& tokenizer, double share, TokenWriter (&splits)[2]) {
  std::vector<int> ids;
  for (size_t at = 0; at < text.size();) {
    stop_if_interrupted();
    const bool back = held_back(at, text.size(), share);
    const size_t end = end_of_piece(text, at);
    tokenizer.encode(std::string_view(text).substr(at, end - at), ids);
    at = end;
    const bool closes = at == text.size() || held_back(at, text.size(), share) != back;
    if (const auto id = tokenizer.end_of_text(); id && closes) ids.push_back(*id);
    splits[back].append(ids);
  }
}

// What decides the content of the folder.
Json describe_making(const TokensRequest& request, const std::vector<Source>& sources, const std::string& model) {
  Json list = Json::array();
  for (const Source& s : sources) list.push_back({{"path", s.path}, {"bytes", s.bytes}, {"fnv1a64", fmt::format("{:016x}", s.hash)}});
  Json making{{"schema_version", 1}, {"kind", "tokens"}, {"validation_share", request.validation}, {"sources", list}};
  if (!model.empty()) {
    making["model"] = {{"path", request.model}, {"fnv1a64", fmt::format("{:016x}", fnv1a(model))}};
  } else {
    for (const auto& [key, value] : tokenizer_parameters(request.vocabulary)) making["sentencepiece"][key] = value;
  }
  return making;
}

std::optional<TokenFolder> existing(const fs::path& folder, const Json& making) {
  std::error_code ignored;
  for (const char* name : {"data.json", "train.bin", "val.bin", "tokenizer.model"})
    if (!fs::exists(folder / name, ignored)) return std::nullopt;
  const Json have = Json::parse(read_file(folder / "data.json"), nullptr, false);
  if (!have.is_object() || have.value("made_from", Json()) != making) return std::nullopt;
  return TokenFolder{have["vocabulary"], have["train_tokens"], have["validation_tokens"], true};
}

void check(const TokensRequest& request) {
  const auto require = [](bool ok, const char* message, const char* where) {
    if (!ok) throw Error(ErrorKind::usage, message, where);
  };
  require(!request.inputs.empty(), "no text was given", "data tokens");
  require(!request.out.empty(), "no folder was given", "--out");
  require(request.validation > 0 && request.validation < 1, "must lie between 0 and 1", "--validation");
  require(request.vocabulary >= 1, "must be at least 1", "--vocabulary");
}

}  // namespace

bool held_back(size_t offset, size_t bytes, double share) {
  constexpr double kBlock = 16384;
  const double periods = std::max(1.0, std::round(share * double(bytes) / kBlock));
  const double at = double(offset) / double(bytes) * periods;
  return at - std::floor(at) >= 1 - share;
}

TokenFolder make_token_folder(const TokensRequest& request, const std::function<void(const std::string&)>& progress) {
  check(request);
  const auto say = [&](const std::string& text) {
    if (progress) progress(text);
  };
  const fs::path folder = request.out;
  const std::vector<Source> sources = look_at(request.inputs);
  std::string model = request.model.empty() ? "" : read_file(request.model);
  const Json making = describe_making(request, sources, model);
  if (const auto found = existing(folder, making)) return *found;

  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) throw Error(ErrorKind::failed, "cannot make the folder: " + failure.message(), folder.string());
  fs::remove(folder / "data.json", failure);  // what it describes is about to change
  if (model.empty()) {
    say(fmt::format("training a vocabulary of {}", request.vocabulary));
    model = train(tokenizer_parameters(request.vocabulary), sources);
  }
  const Tokenizer tokenizer(model);

  TokenWriter splits[2] = {{(folder / "train.bin").string(), tokenizer.vocabulary()},
                           {(folder / "val.bin").string(), tokenizer.vocabulary()}};
  for (const Source& source : sources) {
    say("encoding " + source.path);
    encode(read_text(source.path), tokenizer, request.validation, splits);
  }
  if (splits[0].count() == 0 || splits[1].count() == 0)
    throw Error(ErrorKind::usage, "the text is too short to hold a part of it back", request.inputs[0], "give more text");
  for (TokenWriter& split : splits) split.finish();
  const TokenFolder made{tokenizer.vocabulary(), splits[0].count(), splits[1].count()};
  write_file_atomically(folder / "tokenizer.model", model);
  const Json data{{"vocabulary", made.vocabulary},
                  {"train_tokens", made.train_tokens},
                  {"validation_tokens", made.validation_tokens},
                  {"made_from", making}};
  write_file_atomically(folder / "data.json", data.dump(2) + "\n");
  return made;
}

}  // namespace erg
