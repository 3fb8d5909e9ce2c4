// A plan as the record keeps it: what was expected before the run started.
#pragma once
#include "plan/plan.hpp"
#include "store/record.hpp"

namespace erg {

Json plan_json(const Plan& plan);

}  // namespace erg
