// The child reads its spec from a file in its run's folder and says on stderr how far it is; its record is its result.
#include "run/sweep_child.hpp"

#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/process.hpp"
#include "run/watch_run.hpp"
#include "store/files.hpp"

namespace erg {
namespace {

constexpr size_t tail_lines = 20;
// The child's own watchdog comes first, because it can say more.
constexpr double patience = 1.5;

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

// The spec for the child, gone when the child has ended. It need not outlive a crash, so nothing waits for the disk.
class PointFile {
 public:
  PointFile(const std::filesystem::path& path, const Spec& spec) : path_(path) {
    std::ofstream out(path);
    if (!(out << to_toml(spec) << std::flush))
      throw Error(ErrorKind::failed, fmt::format("cannot write the file: {}", std::strerror(errno)), path.string());
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

struct Ended {
  ChildResult child;
  std::string could_not_start, hang;
  bool oom_killed = false;
};

void judge(Record& r, const Ended& ended) {
  const ChildResult& child = ended.child;
  const bool oom = child.signal == SIGKILL && ended.oom_killed;
  if (!ended.could_not_start.empty()) {
    r.status = Status::failed;
    r.status_reason = ended.could_not_start;
  } else if (child.timed_out) {
    r.status = Status::timeout;
    r.status_reason = ended.hang + (child.unkillable ? "; its process does not end even when killed: it is stuck in the kernel" : "");
  } else if (interrupted() || child.exit_code == cannot_store) {
    r.status = Status::interrupted;
    r.status_reason = interrupted() ? "the sweep was interrupted" : "its result could not be stored";
  } else {
    r.status = oom ? Status::oom : Status::failed;
    r.status_reason = child.signal ? fmt::format("the run was ended by signal {} ({})", child.signal, ::strsignal(child.signal))
                                   : fmt::format("the run ended with exit code {} and no result", child.exit_code);
    if (oom) r.status_reason += ": the kernel was out of memory";
  }
  r.error_kind = "failed";
}

// A child that ended well has completed its record. Else what is known of its end becomes the record.
Record outcome(const Record& claim, const Ended& ended, Store& store) {
  Record r = claim;
  try {
    r = read_record(store.folder(), claim.id);
  } catch (const Error&) {
    // the results folder was emptied under us, or the child left rubbish: what we know replaces it
  }
  const bool concluded = r.status != Status::running && !(ended.child.timed_out && r.status == Status::interrupted);
  const std::string tail = last_lines(ended.child.err);
  const bool wants_tail = r.tail.empty() && !tail.empty() && (r.status == Status::timeout || r.status == Status::failed);
  if (concluded && !wants_tail) return r;
  if (!concluded) judge(r, ended);
  r.tail = tail;
  if (concluded) read_samples(store.folder(), r);
  store.save(r);
  return r;
}

}  // namespace

Record run_point(const ChildRun& run, Store& store) {
  const PointFile file(store.folder() / run.claim.id / "spec.toml", run.point.spec);
  ChildOptions child;
  child.argv = run.argv;
  for (const std::string& word :
       {std::string("run"), file.path(), std::string("--results"), store.folder().string(), std::string("--record-id"), run.claim.id,
        std::string("--sweep-id"), run.claim.sweep_id, std::string("--sweep-process"), run.claim.process.dump()})
    child.argv.push_back(word);
  for (const auto& [key, value] : run.point.coordinates) child.argv.insert(child.argv.end(), {"--coordinate", key + "=" + value});

  Ended ended;
  HangRule rule(hang_limits(run.point.spec, patience));
  rule.beat("start", steady_clock().now());
  child.on_stderr_line = [&](std::string_view line) {
    const auto progress = parse_progress_line(line);
    if (!progress) return run.on_message(std::string(line));
    rule.beat(progress->phase, steady_clock().now());
    run.on_progress(*progress);
  };
  child.give_up = [&] {
    ended.hang = rule.verdict(steady_clock().now());
    return !ended.hang.empty();
  };
  child.ask_first = run.launched;
  const int64_t kills_before = oom_kills();
  try {
    ended.child = run_child(child);
  } catch (const Error& e) { ended.could_not_start = e.what(); }
  ended.oom_killed = oom_kills() > kills_before;
  return outcome(run.claim, ended, store);
}

}  // namespace erg
