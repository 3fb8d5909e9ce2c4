// Device files: one TOML per accelerator, every value with its source. Unknown devices have no peak, never a default one.
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "core/error.hpp"
#include "core/file.hpp"
#include "plan/memory.hpp"

namespace erg {
namespace {

namespace fs = std::filesystem;

DeviceFile read_device(const fs::path& path) {
  const auto fail = [&](const std::string& what) {
    return Error(ErrorKind::usage, what, path.string(), "see devices/a100-sxm4-40gb.toml for the form");
  };
  toml::table t;
  try {
    t = toml::parse_file(path.string());
  } catch (const toml::parse_error& e) {
    throw Error(ErrorKind::usage, std::string(e.description()), fmt::format("{}:{}", path.string(), e.source().begin.line));
  }
  DeviceFile d;
  const auto text = [&](const char* key) {
    const auto v = t[key].value<std::string>();
    if (!v) throw fail(fmt::format("the device file has no text '{}'", key));
    return *v;
  };
  const auto number = [&](const char* key) -> std::optional<double> {
    if (!t.contains(key)) return std::nullopt;
    const auto v = t[key].value<double>();
    if (!v || !(*v > 0)) throw fail(fmt::format("'{}' must be a positive number", key));
    return v;
  };
  d.name = text("name");
  d.vendor = text("vendor");
  d.source = text("source");
  d.memory_gb = number("memory_gb");
  d.memory_gbs = number("memory_gbs");
  d.power_w = number("power_w");
  if (const toml::table* peaks = t["peak_tflops"].as_table()) {
    for (const auto& [dtype, value] : *peaks) {
      const auto v = value.value<double>();
      if (!v || !(*v > 0)) throw fail(fmt::format("peak_tflops.{} must be a positive number", std::string(dtype.str())));
      d.peak_tflops[std::string(dtype.str())] = *v;
    }
  }
  if (const toml::array* match = t["match"].as_array()) {
    for (const toml::node& m : *match) {
      if (const auto v = m.value<std::string>(); v && !v->empty()) d.match.push_back(*v);
    }
  }
  return d;
}

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
  for (const fs::path& path : paths) devices.push_back(read_device(path));
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
