// The terminal tables of a run or sweep: batch, throughput and its interval, TFLOP/s, MFU, memory, loss.
#pragma once
#include <string>
#include <vector>

#include "store/record.hpp"

namespace erg {

std::string results_table(const std::vector<Record>& records);  // grouped by workload and precision
std::string list_table(const std::vector<Record>& records);     // a line a run, for `ergometer list`
std::string profile_table(const Record& record);                // where its step's time went; "" where no profile was asked for
std::string show_record(const Record& record);                  // one run, everything a person asks for

}  // namespace erg
