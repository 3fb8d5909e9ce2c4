// Opening an engine by name: `ref` is linked in, the others are plugins engine_NAME.so, found in a few folders and kept loaded.
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "core/error.hpp"
#include "core/file.hpp"
#include "engine/engine.hpp"

namespace erg {
namespace {

namespace fs = std::filesystem;

constexpr const char* plugin_variable = "ERGOMETER_PLUGINS";

// Back ends this program has, and how to get the one that is missing.
struct BackEnd {
  const char *name, *fix;
};
constexpr BackEnd back_ends[] = {
    {"ref", ""},
    {"cpu", "build the target engine_cpu (make build), or name its folder in ERGOMETER_PLUGINS"},
    {"cuda", "this build has no CUDA back end; use --device cpu"},
    {"torch", "this build has no libtorch back end; use --device cpu"},
};

struct DeviceName {
  std::string engine;
  int index = -1;
};  // index -1: not given

DeviceName parse(const std::string& device) {
  const size_t colon = device.find(':');
  if (colon == std::string::npos) return {device, -1};
  DeviceName name{device.substr(0, colon), 0};
  const char *first = device.data() + colon + 1, *last = device.data() + device.size();
  const auto [end, error] = std::from_chars(first, last, name.index);
  if (error != std::errc() || end != last || name.index < 0)
    throw Error(ErrorKind::usage, fmt::format("'{}' is not a device", device), "device", "write NAME or NAME:INDEX, such as cpu or cuda:0");
  return name;
}

std::vector<fs::path> plugin_folders() {
  std::vector<fs::path> folders;
  if (const char* list = std::getenv(plugin_variable)) {
    std::string_view rest = list;
    while (!rest.empty()) {
      const std::string_view folder = rest.substr(0, rest.find(':'));
      if (!folder.empty()) folders.emplace_back(folder);
      rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    }
  }
  const fs::path binary = executable_folder();
  folders.insert(folders.end(), {binary, binary.parent_path() / "lib", binary.parent_path() / "lib" / "ergometer"});
  return folders;
}

fs::path find_plugin(const std::string& engine) {
  std::error_code ignored;
  for (const fs::path& folder : plugin_folders())
    if (const fs::path file = folder / ("engine_" + engine + ".so"); fs::exists(file, ignored)) return file;
  return {};
}

// Names of the back ends above and of every plugin in the folders.
std::vector<std::string> engine_names() {
  std::vector<std::string> names;
  for (const BackEnd& b : back_ends) names.push_back(b.name);
  for (const fs::path& folder : plugin_folders()) {
    std::error_code error;
    std::vector<std::string> found;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
      const std::string file = entry.path().filename();
      if (file.starts_with("engine_") && file.ends_with(".so")) found.push_back(file.substr(7, file.size() - 10));
    }
    std::sort(found.begin(), found.end());
    for (std::string& name : found)
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

[[noreturn]] void no_plugin(const std::string& engine) {
  for (const BackEnd& b : back_ends)
    if (b.name == engine) {
      std::vector<std::string> folders;
      for (const fs::path& f : plugin_folders()) folders.push_back(f.string());
      throw Error(ErrorKind::unavailable, fmt::format("engine_{}.so is in none of {}", engine, fmt::join(folders, ", ")),
                  "engine " + engine, b.fix);
    }
  const std::vector<std::string> names = engine_names();
  const std::string near = nearest_name(engine, names);
  throw Error(ErrorKind::usage, fmt::format("no engine is called '{}'", engine), "device",
              near.empty() ? fmt::format("engines are {}", fmt::join(names, ", ")) : fmt::format("did you mean {}?", near));
}

template <class Fn>
Fn* symbol_of(void* library, const char* name, const fs::path& file) {
  if (void* symbol = dlsym(library, name)) return reinterpret_cast<Fn*>(symbol);
  throw Error(ErrorKind::unavailable, fmt::format("{} has no function {}", file.string(), name), "engine plugin",
              "it is no Ergometer engine, or an unfinished one: rebuild or remove it");
}

std::unique_ptr<Engine> open_plugin(const std::string& engine, const EngineOptions& options) {
  const fs::path file = find_plugin(engine);
  if (file.empty()) no_plugin(engine);
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);  // stays loaded: engines' code lives in it
  if (!library)
    throw Error(ErrorKind::unavailable, fmt::format("{} does not load: {}", file.string(), dlerror()), "engine " + engine,
                "install the library it names (tools/bootstrap.sh brings what this build needs) or rebuild the plugin");
  const int abi = symbol_of<EngineAbiFn>(library, "erg_engine_abi", file)();
  if (abi != engine_abi)
    throw Error(ErrorKind::unavailable,
                fmt::format("{} was built for engine interface {}, this program has {}", file.string(), abi, engine_abi),
                "engine " + engine, "rebuild the plugin and the program from the same source");
  return std::unique_ptr<Engine>(symbol_of<EngineOpenFn>(library, "erg_engine_open", file)(&options));
}

}  // namespace

std::unique_ptr<Engine> open_engine(const std::string& device, const EngineOptions& options) {
  const DeviceName name = parse(device);
  EngineOptions with_index = options;
  if (name.index >= 0) with_index.device_index = name.index;
  return name.engine == "ref" ? open_ref_engine(with_index) : open_plugin(name.engine, with_index);
}

void require_engine_name(const std::string& device) {
  const DeviceName name = parse(device);
  if (name.engine != "ref" && find_plugin(name.engine).empty()) no_plugin(name.engine);
}

std::vector<std::pair<std::string, std::string>> list_engines() {
  std::vector<std::pair<std::string, std::string>> engines;
  for (const std::string& name : engine_names()) {
    std::string reason;
    try {
      open_engine(name);
    } catch (const Error& e) { reason = e.what(); }
    engines.emplace_back(name, reason);
  }
  return engines;
}

}  // namespace erg
