// Records in the formats of other programs. Numbers are in SI units, with all their digits and a point in every locale; text is UTF-8.
#pragma once
#include <string>
#include <vector>

#include "store/record.hpp"

namespace erg {

// One row a run; columns without a value in any of the rows are left out (docs/export.md).
std::string to_csv(const std::vector<Record>& records);  // quoted as RFC 4180 says, lines end in \n
std::string to_markdown(const std::vector<Record>& records);
std::string to_jsonl(const std::vector<Record>& records);  // one record a line, each as in record.json
// MLCommons' log lines, ":::MLLOG {…}" (mlcommons/logging). SKIPPED and RUNNING records have no events and are left out.
std::string to_mllog(const std::vector<Record>& records);

}  // namespace erg
