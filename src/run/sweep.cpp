// A sweep: one child process a point, so that a crash, a leak or a heap left in pieces stays with its point.
#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/interrupt.hpp"
#include "core/process.hpp"
#include "run/child_progress.hpp"
#include "run/measure.hpp"
#include "store/files.hpp"
#include "store/store.hpp"

namespace erg {
namespace {

constexpr size_t tail_lines = 20;

std::string this_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

// How often the kernel has killed a process for memory: in the whole machine, cgroups included.
int64_t oom_kills() {
  std::ifstream in("/proc/vmstat");
  for (std::string name; in >> name;) {
    int64_t value = 0;
    in >> value;
    if (name == "oom_kill") return value;
  }
  return 0;
}

std::string last_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (!parse_progress_line(line)) lines.push_back(line);
  if (lines.size() > tail_lines) lines.erase(lines.begin(), lines.end() - std::ptrdiff_t(tail_lines));
  return fmt::format("{}", fmt::join(lines, "\n"));
}

// The spec as a file for the child, gone when the child has ended.
class PointFile {
 public:
  PointFile(const std::filesystem::path& path, const Spec& spec) : path_(path) {
    std::filesystem::create_directories(path.parent_path());
    write_file_atomically(path, to_toml(spec));
  }
  ~PointFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  PointFile(const PointFile&) = delete;
  PointFile& operator=(const PointFile&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

Record bare_record(const SweepPoint& point, const std::string& id, const std::string& sweep_id) {
  Record r;
  r.id = id;
  r.started = iso8601(steady_clock().wall());
  r.spec = Json::parse(to_json(point.spec));
  r.spec_hash = spec_hash(point.spec);
  r.sweep_id = sweep_id;
  r.coordinates = point.coordinates;
  r.repro = repro_line(point.spec);
  return r;
}

std::string title_of(const SweepPoint& point) {
  std::string title = point.spec.workload.preset.empty() ? name_of(point.spec.workload.kind) : point.spec.workload.preset;
  for (const auto& [key, value] : point.coordinates) title += fmt::format(" {}={}", key.substr(key.rfind('.') + 1), value);
  if (point.spec.measure.repeat > 1) title += fmt::format(" #{}", point.spec.repeat_index + 1);
  return title;
}

// What a point may take at most, apart from init, check and validation.
double limit_s(const MeasureSpec& m) { return m.warmup_min_s + m.settle_limit() + (m.duration_s > 0 ? m.duration_s : m.max_time_s); }

class Sweep {
 public:
  Sweep(const std::vector<SweepPoint>& points, Store& store, const SweepOptions& options)
      : points_(points),
        store_(store),
        options_(options),
        sweep_id_(options.sweep_id.empty() ? store.new_id() : options.sweep_id),
        program_(options.program.empty() ? this_program() : options.program) {}

  std::vector<Record> run() {
    std::vector<Record> records;
    for (index_ = 0; index_ < points_.size() && !interrupted(); ++index_) {
      const SweepPoint& point = points_[index_];
      records.push_back(point.skip_reason.empty() ? run_point(point) : skip(point));
      const Record& r = records.back();
      say(fmt::format("{}/{} {}: {}{}", index_ + 1, points_.size(), title_of(point), name_of(r.status),
                      r.status_reason.empty() ? "" : ", " + r.status_reason));
    }
    return records;
  }

 private:
  Record skip(const SweepPoint& point) {
    Record r = bare_record(point, store_.new_id(), sweep_id_);
    r.status = Status::skipped;
    r.status_reason = point.skip_reason;
    store_.save(r);
    return r;
  }

  Record run_point(const SweepPoint& point) {
    const std::string id = store_.new_id();
    const PointFile file(store_.folder() / id / "spec.toml", point.spec);
    ChildOptions child;
    child.argv = {program_, "run", file.path(), "--results", store_.folder().string(), "--record-id", id, "--sweep-id", sweep_id_};
    for (const auto& [key, value] : point.coordinates) child.argv.insert(child.argv.end(), {"--coordinate", key + "=" + value});
    const double begin = steady_clock().now(), expected = expected_s(point);
    child.on_stderr_line = [&](std::string_view line) {
      if (const auto progress = parse_progress_line(line))
        report(point, *progress, steady_clock().now() - begin, expected);
      else
        say(std::string(line));
    };
    const int64_t kills_before = oom_kills();
    const ChildResult result = run_child(child);
    done_s_ += steady_clock().now() - begin;
    ++done_;
    return outcome(point, id, result, oom_kills() > kills_before);
  }

  // A child that ended well has completed its record. Else what is known of its end becomes the record.
  Record outcome(const SweepPoint& point, const std::string& id, const ChildResult& child, bool oom_killed) {
    Record r = bare_record(point, id, sweep_id_);
    try {
      r = read_record(store_.folder(), id);
      if (r.status != Status::running) return r;
    } catch (const Error&) {
      // it ended before it could write one
    }
    const bool killed = child.signal == SIGKILL;
    r.status = interrupted() ? Status::interrupted : killed && oom_killed ? Status::oom : Status::failed;
    r.status_reason = child.signal ? fmt::format("the run was ended by signal {} ({})", child.signal, ::strsignal(child.signal))
                                   : fmt::format("the run ended with exit code {} and no result", child.exit_code);
    if (killed && oom_killed) r.status_reason += ": the kernel was out of memory";
    r.error_kind = "failed";
    r.tail = last_lines(child.err);
    store_.save(r);
    return r;
  }

  double expected_s(const SweepPoint& point) const { return done_ ? done_s_ / double(done_) : limit_s(point.spec.measure); }

  void report(const SweepPoint& point, const ChildProgress& p, double elapsed, double expected) const {
    if (!options_.progress) return;
    double left = std::max(0.0, expected - elapsed);
    for (size_t i = index_ + 1; i < points_.size(); ++i)
      if (points_[i].skip_reason.empty()) left += expected_s(points_[i]);
    options_.progress(fmt::format("{}/{} {}, {}", index_ + 1, points_.size(), title_of(point), time_left(left)),
                      (double(index_) + p.fraction) / double(points_.size()), p.detail.empty() ? p.phase : p.phase + ", " + p.detail);
  }
  void say(const std::string& line) const {
    if (options_.message) options_.message(line);
  }

  const std::vector<SweepPoint>& points_;
  Store& store_;
  const SweepOptions& options_;
  std::string sweep_id_, program_;
  size_t index_ = 0;
  double done_s_ = 0;
  int done_ = 0;
};

}  // namespace

std::vector<Record> run_sweep(const std::vector<SweepPoint>& points, Store& store, const SweepOptions& options) {
  return Sweep(points, store, options).run();
}

}  // namespace erg
