// Pieces of records in words, shared by the tables: what a run is called, a metric with its unit and interval.
#pragma once
#include <optional>
#include <string>

#include "store/record.hpp"

namespace erg {

std::string workload_title(const Record& record);  // "gpt-117m, sequence 256"
std::string precision_of(const Record& record);    // "bf16", or what the spec asked for
std::string device_title(const Record& record);    // "cpu: AMD EPYC 9R14, 2 threads, oneDNN 3.2.0"
std::string rate_name(const Record& record);       // "tokens_per_s" or "images_per_s"; "" when it has neither

std::optional<double> metric_value(const Record& record, const std::string& name);
std::string metric_text(const Metric& metric);    // "16.1 /s", "2.31 GB", "0.41", "n/a"
std::string one_line(const std::string& text);    // line breaks become "; "
std::string interval_text(const Metric& metric);  // "± 0.8 %", "(-0.09 to 0.04)" where that is lopsided or reaches 100 %, "" without one

}  // namespace erg
