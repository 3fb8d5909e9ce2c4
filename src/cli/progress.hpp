// How far a run or sweep is: on the status line, or as lines to the parent that started us.
#pragma once
#include "core/terminal.hpp"
#include "run/measure.hpp"
#include "run/sweep.hpp"

namespace erg {

Progress show_progress(StatusLine& status);
Progress tell_parent();

// What `run`, `sweep` and `resume` have in common: how a stored sweep is run, and how a person sees it.
struct SweepRequest {
  RetryRule retry;
  int max_failures = 0;
};
SweepResult show_sweep(const StoredSweep& sweep, Store& store, const SweepRequest& request);

}  // namespace erg
