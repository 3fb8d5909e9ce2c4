// How far a run or sweep is: on the status line, or as lines to the parent that started us.
#pragma once
#include <vector>

#include "core/terminal.hpp"
#include "run/measure.hpp"

namespace erg {

Progress show_progress(StatusLine& status);
Progress tell_parent();
// A sweep with its status line.
std::vector<Record> run_points(const std::vector<SweepPoint>& points, Store& store);

}  // namespace erg
