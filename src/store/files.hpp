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

// As it stands in the file. Throws Error(usage) naming the file when it is broken.
Record read_record(const std::filesystem::path& folder, const std::string& id);
void read_samples(const std::filesystem::path& folder, Record& record);  // nothing happens when there are none
std::string samples_text(const Record& record);

}  // namespace erg
