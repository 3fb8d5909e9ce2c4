// The loop over a sweep's points: what is its state, claim it, run it, tell the watcher.
#include "run/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "run/launcher.hpp"
#include "run/sweep_child.hpp"

namespace erg {
namespace {

std::string this_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

bool failed(const Record& r) { return r.status == Status::failed || r.status == Status::oom || r.status == Status::timeout; }

class Sweep {
 public:
  Sweep(const StoredSweep& sweep, Store& store, const SweepOptions& options)
      : sweep_(sweep), store_(store), options_(options), program_(options.program.empty() ? this_program() : options.program) {}

  SweepResult run() {
    std::vector<std::string> titles;
    for (const SweepPoint& p : sweep_.points) titles.push_back(title_of(p));
    options_.watcher.begin(titles);
    for (size_t i = 0; i < sweep_.points.size(); ++i) look_at(i);
    for (size_t i = 0; i < sweep_.points.size(); ++i)
      if (open_[i] && going_on()) take(i);
    for (size_t i = 0; i < sweep_.points.size(); ++i) add_to_result(i);
    return std::move(result_);
  }

 private:
  using Kind = PointState::Kind;
  bool going_on() const { return !interrupted() && (options_.max_failures == 0 || failures_ < options_.max_failures); }

  void look_at(size_t i) {
    states_.push_back(state_of(store_, sweep_, i, options_.retry));
    const PointState& s = states_.back();
    open_.push_back(s.kind == Kind::open);
    if (!s.broken.empty()) options_.watcher.message("ergometer: left out: " + s.broken);
    if (s.kind == Kind::done) options_.watcher.finished(i, *s.record, true);
    if (s.kind == Kind::running) options_.watcher.elsewhere(i, *s.record);
  }

  void take(size_t i) {
    const Record claim = claim_record(sweep_, i, states_[i].attempt + 1);
    keep_sweep_file();
    open_[i] = false;
    if (!store_.claim(claim)) {  // somebody else was faster
      states_[i] = state_of(store_, sweep_, i, {});
      if (states_[i].record) options_.watcher.elsewhere(i, *states_[i].record);
      return;
    }
    states_[i].record = run_claimed(i, claim);
    states_[i].kind = states_[i].record->status == Status::interrupted ? Kind::open : Kind::done;
    failures_ += failed(*states_[i].record);
    options_.watcher.finished(i, *states_[i].record, false);
  }

  // Others may have finished meanwhile what they were running when we began.
  void add_to_result(size_t i) {
    if (states_[i].kind == Kind::running) states_[i] = state_of(store_, sweep_, i, {});
    result_.elsewhere += states_[i].kind == Kind::running;
    result_.open += states_[i].kind == Kind::open;
    if (states_[i].record) result_.records.push_back(std::move(*states_[i].record));
  }

  Record run_claimed(size_t i, const Record& claim) {
    const SweepPoint& point = sweep_.points[i];
    if (claim.status == Status::skipped) return claim;
    std::vector<std::string> argv = launcher_words(sweep_.launcher, {point.spec.devices, i, claim.id});
    const bool launched = !argv.empty();
    argv.push_back(program_);
    const double begin = steady_clock().now(), expected = expected_s(point);
    const ChildRun child = {
        point,
        claim,
        argv,
        launched,
        [&](const ChildProgress& p) { options_.watcher.running(i, p, left_s(i, expected - (steady_clock().now() - begin))); },
        [&](const std::string& line) { options_.watcher.message(line); }};
    Record r = run_point(child, store_);
    done_s_ += steady_clock().now() - begin;
    ++done_;
    return r;
  }

  // Somebody may have removed the results folder: what we go on to store there shall be resumable too.
  void keep_sweep_file() const {
    std::error_code error;
    if (!std::filesystem::exists(sweep_path(store_.folder(), sweep_.id), error)) save_sweep(store_.folder(), sweep_);
  }

  double expected_s(const SweepPoint& p) const { return done_ ? done_s_ / double(done_) : p.spec.measure.longest(); }
  double left_s(size_t i, double of_this) const {
    double left = std::max(0.0, of_this);
    for (size_t k = i + 1; k < sweep_.points.size(); ++k)
      if (open_[k] && sweep_.points[k].skip_reason.empty()) left += expected_s(sweep_.points[k]);
    return left;
  }

  const StoredSweep& sweep_;
  Store& store_;
  const SweepOptions& options_;
  std::string program_;
  std::vector<PointState> states_;
  std::vector<bool> open_;  // to be run by us, if nobody is faster
  SweepResult result_;
  double done_s_ = 0;
  int done_ = 0, failures_ = 0;
};

}  // namespace

std::string title_of(const SweepPoint& point) {
  std::string title = point.spec.workload.preset.empty() ? name_of(point.spec.workload.kind) : point.spec.workload.preset;
  for (const auto& [key, value] : point.coordinates) title += fmt::format(" {}={}", key.substr(key.rfind('.') + 1), value);
  if (point.spec.measure.repeat > 1) title += fmt::format(" #{}", point.spec.repeat_index + 1);
  return title;
}

StoredSweep store_sweep(std::vector<SweepPoint> points, const std::string& launcher, Store& store) {
  launcher_words(launcher, {});
  StoredSweep sweep{store.new_id(), iso8601(steady_clock().wall()), launcher, std::move(points)};
  save_sweep(store.folder(), sweep);
  return sweep;
}

SweepResult run_sweep(const StoredSweep& sweep, Store& store, const SweepOptions& options) { return Sweep(sweep, store, options).run(); }

}  // namespace erg
