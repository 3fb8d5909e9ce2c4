// What lies in a results folder: the names, and how one run's files are read.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "store/record.hpp"

namespace erg {

std::filesystem::path record_path(const std::filesystem::path& folder, const std::string& id);
std::filesystem::path samples_path(const std::filesystem::path& folder, const std::string& id);

// Ids of the runs that have a record file, oldest first.
std::vector<std::string> stored_ids(const std::filesystem::path& folder);

// The one of `ids` (sorted) that a person means by an id, its beginning or its end, or "last". `what` is "run" or "sweep". Throws
// Error(usage) when there is none, with `first_fix` when there are no ids at all, or more than one.
std::string find_id(const std::vector<std::string>& ids, const std::string& id_or_part, const std::string& what,
                    const std::filesystem::path& folder, const std::string& first_fix);

Json parse_json_file(const std::filesystem::path& path);  // throws Error(usage) naming the file

// As it stands in the file. Throws Error(usage) naming the file when it is broken.
Record read_record(const std::filesystem::path& folder, const std::string& id);
void read_samples(const std::filesystem::path& folder, Record& record);  // nothing happens when there are none
std::string samples_text(const Record& record);

}  // namespace erg
