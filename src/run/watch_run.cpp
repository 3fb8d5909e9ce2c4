// When the watchdog bites, other threads are stuck and hold who knows which locks: the record is stored and the process ends at once,
// without destructors.
#include "run/watch_run.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cstdio>

#include "core/error.hpp"
#include "store/process_id.hpp"
#include "store/store.hpp"

namespace erg {

HangLimits hang_limits(const Spec& spec, double patience) {
  return {spec.measure.hang_min_s, spec.measure.limit_s, spec.workload.validation_steps, patience};
}

std::unique_ptr<Watchdog> watch_run(const Spec& spec, const Record& record, Store& store) {
  Watchdog::Actions actions;
  actions.on_hang = [record, &store](const std::string& reason) {
    Record r = record;
    r.status = Status::timeout;
    r.status_reason = reason;
    r.error_kind = "failed";
    std::string said = fmt::format("ergometer: error: TIMEOUT: {}\n", reason);
    int code = 1;
    try {
      store.save(r);
    } catch (const Error& e) {
      said += fmt::format("ergometer: error: {}\n", e.what());
      code = cannot_store;
    }
    // Not by stdio, whose lock a thread that is stuck may hold; and only if it cannot block, which may be what hangs.
    pollfd out = {STDERR_FILENO, POLLOUT, 0};
    if (::poll(&out, 1, 0) == 1 && (out.revents & POLLOUT)) (void)!::write(STDERR_FILENO, said.data(), said.size());
    ::_exit(code);
  };
  // Under a launcher we are not the sweep's own child, so the kernel does not end us with it.
  if (record.process.is_object() && record.process.contains("sweep")) {
    actions.orphaned = [sweep = record.process.at("sweep")] { return certainly_dead(sweep); };
    actions.on_orphan = [] { ::_exit(1); };
  }
  return std::make_unique<Watchdog>(HangRule(hang_limits(spec)), std::move(actions));
}

Progress watched_by(Watchdog& watchdog, Progress progress) {
  return [&watchdog, progress = std::move(progress)](const std::string& phase, double fraction, const std::string& detail) {
    watchdog.beat(phase);
    if (progress) progress(phase, fraction, detail);
  };
}

}  // namespace erg
