// The catalogue of metrics: name, unit and direction, in the order in which people want to see them. A record's metrics come from here.
#pragma once
#include <string>
#include <vector>

#include "store/record.hpp"

namespace erg {

struct MetricKind {
  const char* name;
  const char* unit;    // SI; "1" for ratios and counts
  const char* better;  // "higher", "lower" or ""
  const char* meaning;
  bool speed;  // part of the score that an INVALID run withholds
};

const std::vector<MetricKind>& metric_kinds();

// Metrics with the catalogue's unit and direction. Throw std::logic_error for a name that is not in it.
Metric measured(const std::string& name, double value);
Metric unavailable(const std::string& name, const std::string& reason);

// The value at "workload.global_batch" and the like; nullptr when it is not there or null.
const Json* field(const Json& object, const std::string& dotted_key);
// The value of spec key "workload.global_batch" and the like as text; "" when it is not there.
std::string field_text(const Json& object, const std::string& dotted_key);

}  // namespace erg
