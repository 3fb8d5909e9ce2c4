// The watchdog of one run: a run that hangs stores its TIMEOUT record and ends its process; one whose sweep was killed ends itself.
#pragma once
#include <memory>

#include "core/watchdog.hpp"
#include "run/measure.hpp"

namespace erg {

// Exit code of a child whose result could not be stored (EX_IOERR of sysexits.h): its sweep sees that the point is to be run again.
constexpr int cannot_store = 74;

HangLimits hang_limits(const Spec& spec, double patience = 1);

// `record` as it stood at the start, stored as RUNNING. Stop the watchdog before the final record is stored.
std::unique_ptr<Watchdog> watch_run(const Spec& spec, const Record& record, Store& store);

// A progress callback that also tells the watchdog.
Progress watched_by(Watchdog& watchdog, Progress progress);

}  // namespace erg
