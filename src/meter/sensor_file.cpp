// Sensor files are opened anew for every reading, so that a driver that goes away is noticed.
#include "meter/sensor_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "core/clock.hpp"

namespace erg {
namespace {

namespace fs = std::filesystem;

constexpr double largest_power_w = 5000;

// At most what a sensor's file can hold, or an errno.
int read_short(const fs::path& path, std::string& text) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe in its place must not hold us up
  if (fd < 0) return errno;
  char content[256];
  const ssize_t n = ::read(fd, content, sizeof content);
  const int error = n < 0 ? errno : 0;
  ::close(fd);
  if (n > 0) text.assign(content, size_t(n));
  return error;
}

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\n");
  return first == text.npos ? "" : text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

class FileMeter final : public Meter {
 public:
  explicit FileMeter(MeterInfo info) : info_(std::move(info)) {}
  MeterInfo info() const override { return info_; }
  std::optional<MeterReading> read() override {
    const double before = steady_clock().now();
    const std::optional<int64_t> millionths = read_sensor_file(info_.path).value;
    if (!millionths) return std::nullopt;
    const double value = 1e-6 * double(*millionths);
    if (!info_.counter && value > largest_power_w) return std::nullopt;
    return MeterReading{0.5 * (before + steady_clock().now()), value};
  }

 private:
  MeterInfo info_;
};

// The numbers in a name, in order: "intel-rapl:0:10" has {0, 10}.
std::vector<long> numbers_in(const std::string& name) {
  std::vector<long> numbers;
  for (size_t i = 0; i < name.size(); ++i)
    if (std::isdigit(static_cast<unsigned char>(name[i]))) {
      size_t length = 0;
      numbers.push_back(std::stol(name.substr(i, 9), &length));
      i += length - 1;
    }
  return numbers;
}

}  // namespace

FileValue read_sensor_file(const fs::path& path) {
  std::string text;
  const int error = read_short(path, text);
  if (error == EACCES || error == EPERM) return {std::nullopt, "no_permission"};
  if (error == ENOENT) {
    std::error_code ignored;
    for (fs::path part = path; part.has_relative_path(); part = part.parent_path())
      if (fs::is_symlink(fs::symlink_status(part, ignored)) && !fs::exists(part, ignored)) return {std::nullopt, "masked_by_container"};
    return {std::nullopt, "sensor_missing"};
  }
  if (error != 0) return {std::nullopt, "not_supported"};
  text = trimmed(text);
  int64_t value = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (bad != std::errc() || end != text.data() + text.size() || value < 0) return {std::nullopt, "not_supported"};
  return {value, {}};
}

std::string sensor_text(const fs::path& path) {
  std::string text;
  if (read_short(path, text) != 0) return {};
  return trimmed(text.substr(0, text.find('\n')));
}

std::unique_ptr<Meter> file_meter(MeterInfo info) { return std::make_unique<FileMeter>(std::move(info)); }

std::vector<fs::path> numbered_folders(const fs::path& folder, const std::string& prefix) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().filename().string().starts_with(prefix)) found.push_back(entry.path());
  std::sort(found.begin(), found.end(), [](const fs::path& a, const fs::path& b) {
    const auto x = numbers_in(a.filename()), y = numbers_in(b.filename());
    return x != y ? x < y : a < b;
  });
  return found;
}

}  // namespace erg
