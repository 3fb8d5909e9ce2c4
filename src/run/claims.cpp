// An attempt is open again when nobody can conclude it any more: neither the child that runs it nor the sweep that started that child.
#include "run/claims.hpp"

#include "core/clock.hpp"
#include "core/error.hpp"
#include "run/measure.hpp"
#include "store/files.hpp"
#include "store/process_id.hpp"

namespace erg {
namespace {

bool lost(const Json& process, const RetryRule& rule) {
  return process.is_object() && process.contains("host") && process.at("host").is_string() &&
         rule.lost_hosts.count(process.at("host").get<std::string>()) > 0;
}

PointState::Kind kind_of(const Record& r, const RetryRule& rule) {
  using Kind = PointState::Kind;
  switch (r.status) {
    case Status::running: return certainly_abandoned(r.process) || lost(r.process, rule) ? Kind::open : Kind::running;
    case Status::interrupted: return Kind::open;
    case Status::failed:
    case Status::oom:
    case Status::timeout: return rule.failed ? Kind::open : Kind::done;
    case Status::passed:
    case Status::invalid:
    case Status::skipped: return Kind::done;
  }
  return Kind::done;
}

int last_attempt(const Store& store, const StoredSweep& sweep, size_t point) {
  int attempt = 0;
  std::error_code error;
  while (std::filesystem::exists(record_path(store.folder(), sweep.record_id(point, attempt + 1)), error)) ++attempt;
  return attempt;
}

}  // namespace

PointState state_of(const Store& store, const StoredSweep& sweep, size_t point, const RetryRule& rule) {
  PointState state;
  state.attempt = last_attempt(store, sweep, point);
  if (state.attempt == 0) return state;
  try {
    state.record = read_record(store.folder(), sweep.record_id(point, state.attempt));
    state.kind = kind_of(*state.record, rule);
  } catch (const Error& e) { state.broken = e.what(); }
  return state;
}

Record claim_record(const StoredSweep& sweep, size_t index, int attempt) {
  const SweepPoint& point = sweep.points[index];
  Record r;
  r.id = sweep.record_id(index, attempt);
  r.status = point.skip_reason.empty() ? Status::running : Status::skipped;
  r.status_reason = point.skip_reason;
  r.started = iso8601(steady_clock().wall());
  r.spec = Json::parse(to_json(point.spec));
  r.spec_hash = spec_hash(point.spec);
  r.sweep_id = sweep.id;
  r.coordinates = point.coordinates;
  r.repro = repro_line(point.spec);
  r.process = this_process();
  return r;
}

}  // namespace erg
