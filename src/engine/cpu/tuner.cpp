#include "engine/cpu/tuner.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <mutex>

#include "core/clock.hpp"
#include "core/file.hpp"

namespace erg {
namespace {

constexpr double worth_measuring_flops = 1e8;
constexpr int rounds = 4;  // after one that warms up
constexpr double clearly = 0.97;
constexpr int64_t cache_bytes = 64 << 20;
constexpr const char* kernels_version = "k1";  // of our own candidates: changed with them

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::filesystem::path cache_folder() {
  if (const std::string cache = environment("XDG_CACHE_HOME"); !cache.empty()) return std::filesystem::path(cache) / "ergometer";
  if (const std::string home = environment("HOME"); !home.empty()) return std::filesystem::path(home) / ".cache" / "ergometer";
  return {};
}

// What decides which kernel is the fastest, as a file name.
std::filesystem::path file_of(const CpuEngine& engine) {
  const std::filesystem::path folder = cache_folder();
  if (folder.empty()) return {};
  const EngineInfo i = engine.info();
  std::string name = i.device + " " + i.isa + " " + i.library + " " + std::to_string(i.threads) + " threads " + kernels_version;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_') c = '-';
  return folder / ("kernels-" + name + ".tsv");
}

// Of one file; lines that are none are left out.
class Choices {
 public:
  explicit Choices(std::filesystem::path file) : file_(std::move(file)) {
    std::error_code error;
    if (file_.empty() || !std::filesystem::is_regular_file(file_, error)) return;
    try {
      const std::string text = read_file(file_, 1 << 20);
      for (size_t at = 0, end; at < text.size(); at = end + 1) {
        end = std::min(text.find('\n', at), text.size());
        const std::string line = text.substr(at, end - at);
        if (const size_t tab = line.find('\t'); tab != std::string::npos) known_[line.substr(0, tab)] = line.substr(tab + 1);
      }
    } catch (const Error&) {}  // measured again
  }

  const std::string* find(const std::string& what) const {
    const auto at = known_.find(what);
    return at == known_.end() ? nullptr : &at->second;
  }

  void add(const std::string& what, const std::string& name) {
    known_[what] = name;
    if (file_.empty()) return;
    std::string text;
    for (const auto& [key, value] : known_) text += key + "\t" + value + "\n";
    try {
      std::filesystem::create_directories(file_.parent_path());
      write_file_atomically(file_, text, Synced::nothing);
    } catch (const std::exception&) {}  // a read-only home: kept in this process
  }

 private:
  std::filesystem::path file_;
  std::map<std::string, std::string> known_;
};

// In turn, so that what else the machine does hits all alike; the best of each counts. The first candidate is the library's own choice,
// which stays unless another is clearly faster.
// Caches are emptied before each, as between the layers of a network.
size_t measured(CpuEngine& engine, const std::vector<Candidate>& candidates) {
  const std::unique_ptr<Buffer> other = engine.allocate(cache_bytes, "measuring kernels");
  std::vector<std::function<void()>> runnable;
  for (const Candidate& c : candidates) runnable.push_back(c.prepare());
  std::vector<double> best(candidates.size(), std::numeric_limits<double>::infinity());
  for (int round = -1; round < rounds; ++round)
    for (size_t i = 0; i < runnable.size(); ++i) {
      engine.fill_zero({DType::u8, {cache_bytes}, Layout::plain, other->data(), cache_bytes});
      const double begin = steady_clock().now();
      runnable[i]();
      if (round >= 0) best[i] = std::min(best[i], steady_clock().now() - begin);
    }
  const size_t fastest = size_t(std::min_element(best.begin(), best.end()) - best.begin());
  return best[fastest] < clearly * best[0] ? fastest : 0;
}

}  // namespace

Trial::Trial(CpuEngine& engine, std::initializer_list<int64_t> sizes) {
  for (const int64_t bytes : sizes) {
    buffers_.push_back(engine.allocate(bytes, "measuring kernels"));
    uint32_t* const words = static_cast<uint32_t*>(buffers_.back()->data());
    uint32_t random = 1;  // a linear congruence is random enough
    for (int64_t i = 0; i < bytes / 4; ++i) {
      random = random * 1664525u + 1013904223u;
      words[i] = 0x3f003f00u | (random & 0x807f807fu);  // a sign and a mantissa, twice
    }
  }
}

size_t choose(CpuEngine& engine, const std::string& what, double flops, const std::vector<Candidate>& candidates) {
  const std::string forced = environment("ERGOMETER_TUNE");
  if (forced == "last") return candidates.size() - 1;
  if (forced == "first" || candidates.size() == 1 || flops < worth_measuring_flops) return 0;

  static std::mutex mutex;
  static std::map<std::filesystem::path, Choices> all;
  const std::lock_guard lock(mutex);
  const std::filesystem::path file = file_of(engine);
  Choices& choices = all.try_emplace(file, file).first->second;
  if (const std::string* name = choices.find(what))
    for (size_t i = 0; i < candidates.size(); ++i)
      if (candidates[i].name == *name) return i;

  size_t fastest = 0;
  try {
    fastest = measured(engine, candidates);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::out_of_memory) throw;
    return 0;  // no room to try them in: the network itself may fit
  }
  choices.add(what, candidates[fastest].name);
  return fastest;
}

}  // namespace erg
