// The verdict of the check phase apart from the training that leads to it.
#pragma once
#include <vector>

#include "workload/workload.hpp"

namespace erg {

// What the losses of the three check steps say of the spec's architecture in that precision.
CheckResult judge_losses(const Spec& spec, DType dtype, std::vector<double> losses);

}  // namespace erg
