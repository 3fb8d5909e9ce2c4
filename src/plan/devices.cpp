// Device files: one TOML per accelerator, every value with its source. Unknown devices have no peak, never a default one.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "core/error.hpp"
#include "core/file.hpp"
#include "plan/memory.hpp"
#include "spec/toml.hpp"

namespace erg {
namespace {

namespace fs = std::filesystem;

// A device file's keys; errors name file, line and key.
class DeviceReader {
 public:
  explicit DeviceReader(const fs::path& path) : source_(path.string()), table_(parse_toml(read_file(path), source_)) {}

  DeviceFile read() const {
    DeviceFile d;
    d.name = text("name");
    d.vendor = text("vendor");
    d.source = text("source");
    d.memory_gb = number("memory_gb");
    d.memory_gbs = number("memory_gbs");
    d.power_w = number("power_w");
    if (const TomlEntry* peaks = find("peak_tflops")) {
      for (const TomlEntry& peak : content<TomlTable>(*peaks, "a table")) d.peak_tflops[peak.key] = positive(peak);
    }
    if (const TomlEntry* match = find("match")) {
      for (const TomlValue& part : content<TomlArray>(*match, "a list of texts")) {
        const auto* name = part.as<std::string>();
        if (!name || name->empty()) throw fail(*match, "a list of texts");
        d.match.push_back(*name);
      }
    }
    return d;
  }

 private:
  const TomlEntry* find(std::string_view key) const {
    const auto found = std::find_if(table_.begin(), table_.end(), [&](const TomlEntry& e) { return e.key == key; });
    return found == table_.end() ? nullptr : &*found;
  }
  Error fail(const TomlEntry& at, const std::string& wanted) const {
    return Error(ErrorKind::usage, fmt::format("'{}' must be {}", at.key, wanted), place_text(source_, at.place), form);
  }
  template <class T>
  const T& content(const TomlEntry& entry, const std::string& wanted) const {
    if (const T* value = entry.value.as<T>()) return *value;
    throw fail(entry, wanted);
  }
  std::string text(const char* key) const {
    const TomlEntry* entry = find(key);
    if (!entry) throw Error(ErrorKind::usage, fmt::format("the device file has no text '{}'", key), source_, form);
    return content<std::string>(*entry, "a text");
  }
  double positive(const TomlEntry& entry) const {
    const auto* integer = entry.value.as<int64_t>();
    const auto* real = entry.value.as<double>();
    const double value = integer ? double(*integer) : real ? *real : 0;
    if (!(value > 0)) throw fail(entry, "a positive number");
    return value;
  }
  std::optional<double> number(const char* key) const {
    const TomlEntry* entry = find(key);
    return entry ? std::optional(positive(*entry)) : std::nullopt;
  }

  static constexpr const char* form = "see devices/a100-sxm4-40gb.toml for the form";
  std::string source_;
  TomlTable table_;
};

bool matches(const DeviceFile& d, const std::string& device_name) {
  return std::any_of(d.match.begin(), d.match.end(), [&](const std::string& m) { return device_name.find(m) != std::string::npos; });
}

const char* peak_key(Precision precision, DType dtype) {
  if (precision == Precision::tf32) return "tf32";
  return dtype == DType::bf16 ? "bf16" : dtype == DType::f16 ? "fp16" : "fp32";
}

}  // namespace

std::vector<DeviceFile> load_devices(const std::string& folder) {
  std::vector<fs::path> paths;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".toml") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<DeviceFile> devices;
  for (const fs::path& path : paths) devices.push_back(DeviceReader(path).read());
  return devices;
}

std::string devices_folder() {
  if (const char* given = std::getenv("ERGOMETER_DEVICES")) return given;
  const fs::path installed = executable_folder() / "../share/ergometer/devices";
  return fs::is_directory(installed) ? installed.string() : std::string(ERG_DEVICES_DIR);
}

void set_peak(Plan& plan, Precision precision, const std::string& device_name, double device_share) {
  const std::string key = peak_key(precision, plan.dtype);
  if (device_name.empty()) {
    plan.peak_source = "the device's name is not known";
    return;
  }
  for (const DeviceFile& d : load_devices(devices_folder())) {
    if (!matches(d, device_name)) continue;
    if (const auto peak = d.peak_tflops.find(key); peak != d.peak_tflops.end()) {
      plan.peak_flops = peak->second * 1e12 * device_share;
      plan.peak_source = d.source;
      if (device_share != 1) plan.peak_source += fmt::format("; {:.4g} of the device", device_share);
    } else {
      plan.peak_source = fmt::format("{} declares no {} peak", d.name, key);
    }
    return;
  }
  plan.peak_source = fmt::format("no file in devices/ matches \"{}\"", device_name);
}

}  // namespace erg
