// The options of `ergometer data` and what it prints: facts on stdout, progress on stderr.
#include "cli/data.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "cli/options.hpp"
#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/terminal.hpp"
#include "data/inspect.hpp"
#include "data/make_images.hpp"
#include "data/token_folder.hpp"

namespace erg {
namespace {

// One fact a line, what belongs to a fact indented below it.
void print(const Json& facts, int indent) {
  for (const auto& [key, value] : facts.items()) {
    std::string name = key;
    std::replace(name.begin(), name.end(), '_', ' ');
    const bool nested = value.is_object() || (value.is_array() && !value.empty() && value[0].is_object());
    if (nested) {
      fmt::print("{:{}}{}\n", "", indent, name);
      for (const Json& part : value.is_array() ? value : Json::array({value})) print(part, indent + 2);
    } else {
      fmt::print("{:{}}{:<{}} {}\n", "", indent, name, 24 - indent, value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
}

// For people on stdout; as JSON to a file, or to stdout instead for "-".
void show(const Json& facts, const std::string& json) {
  if (!write_json(facts, json)) print(facts, 0);
}

// A signal is 130, as for every command.
template <class Make>
auto interruptible(Make&& make) {
  try {
    return make();
  } catch (const Error& e) {
    if (!interrupted()) throw;
    print_error(e.what());
    exit_with(130);
  }
}

void add_tokens(CLI::App& data) {
  struct Options {
    TokensRequest request;
    std::string json;
  };
  auto options = std::make_shared<Options>();
  TokensRequest& request = options->request;
  CLI::App& command = *data.add_subcommand("tokens", "Turn UTF-8 text into token files with a SentencePiece vocabulary");
  command.add_option("inputs", request.inputs, "Text files, plain or .gz; one document each")->required();
  command.add_option("--out", request.out, "Folder to write: train.bin, val.bin, tokenizer.model, data.json")->required();
  auto* vocabulary = command.add_option("--vocabulary", request.vocabulary, "Size of the vocabulary to train")->capture_default_str();
  command.add_option("--model", request.model, "Use this SentencePiece model instead of training one")->excludes(vocabulary);
  command.add_option("--validation", request.validation, "Share of the text to hold back, in blocks spread over it")->capture_default_str();
  add_json_option(command, options->json);
  command.callback([options] {
    StatusLine status;
    const TokenFolder made =
        interruptible([&] { return make_token_folder(options->request, [&](const std::string& text) { status.update(text); }); });
    status.clear();
    show({{"folder", options->request.out},
          {"vocabulary", made.vocabulary},
          {"train_tokens", made.train_tokens},
          {"validation_tokens", made.validation_tokens},
          {"up_to_date", made.reused}},
         options->json);
  });
}

void add_images(CLI::App& data) {
  struct Options {
    ImagesRequest request;
    std::string size, json;
  };
  auto options = std::make_shared<Options>();
  ImagesRequest& request = options->request;
  options->size = fmt::format("{}x{}", request.width, request.height);
  CLI::App& command = *data.add_subcommand("images", "Write a small learnable set of JPEG files, a folder per class");
  command.add_option("--out", request.out, "Folder to write: train/CLASS/, val/CLASS/, data.json")->required();
  command.add_option("--classes", request.classes, "Number of classes")->capture_default_str();
  command.add_option("--per-class", request.per_class, "Images of each class, both splits together")->capture_default_str();
  command.add_option("--size", options->size, "Width x height in pixels")->capture_default_str();
  command.add_option("--validation", request.validation, "Share of each class for val/")->capture_default_str();
  command.add_option("--seed", request.seed, "Another seed, other images of the same classes")->capture_default_str();
  add_json_option(command, options->json);
  command.callback([options] {
    ImagesRequest& r = options->request;
    int end = 0;
    if (std::sscanf(options->size.c_str(), "%ldx%ld%n", &r.width, &r.height, &end) != 2 || size_t(end) != options->size.size())
      throw Error(ErrorKind::usage, fmt::format("'{}' is not a size", options->size), "--size", "write width x height, such as 500x375");
    const MadeImages made = interruptible([&] { return make_image_folder(r); });
    show({{"folder", r.out},
          {"classes", r.classes},
          {"train_images", made.train},
          {"validation_images", made.validation},
          {"up_to_date", made.reused}},
         options->json);
  });
}

void add_inspect(CLI::App& data) {
  struct Options {
    std::string data, json;
    bool every = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App& command = *data.add_subcommand("inspect", "Say what data hold and check that they can be trained on");
  command.add_option("data", options->data, "A folder of token files or of images, or any other value of workload.data")->required();
  command.add_flag("--every-image", options->every, "Decode every image, not only the first of each split");
  add_json_option(command, options->json);
  command.callback([options] { show(inspect_data(options->data, options->every), options->json); });
}

}  // namespace

void register_data(CLI::App& app) {
  CLI::App& data = *app.add_subcommand("data", "Make and inspect training data");
  data.require_subcommand(1);
  add_tokens(data);
  add_images(data);
  add_inspect(data);
}

}  // namespace erg
