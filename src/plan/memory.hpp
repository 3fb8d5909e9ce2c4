// Predicted memory of a layout on our own engines (METHOD §4), and the declared peak of its device.
#pragma once
#include "plan/plan.hpp"

namespace erg {

// `spec.workload.micro_batch` is that of the plan. Bytes on one device.
MemoryPlan plan_memory(const Spec& spec, const Plan& plan);

// Fills plan.peak_flops and plan.peak_source from the device file whose `match` fits; says why when none does.
void set_peak(Plan& plan, Precision precision, const std::string& device_name, double device_share);

}  // namespace erg
