// A sweep as it is stored before its first point runs: <results>/sweeps/<id>.json. What became of its points stands in their records,
// whose ids follow from the sweep's, so that a claim to run a point is the creation of its record.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "spec/spec.hpp"
#include "store/record.hpp"

namespace erg {

struct StoredSweep {
  std::string id, started;  // id: time, host and random bits, as a run's; ISO 8601
  std::string launcher;     // words before a child's command; empty: none
  std::vector<SweepPoint> points;

  // The id of the record of a point's attempt: "ID-0003", and "ID-0003.2" for its second. Points from 0, attempts from 1.
  std::string record_id(size_t point, int attempt) const;
};

std::filesystem::path sweep_path(const std::filesystem::path& folder, const std::string& id);
std::vector<std::string> stored_sweeps(const std::filesystem::path& folder);  // ids, oldest first

Json to_json(const StoredSweep& sweep);
StoredSweep sweep_from_json(const Json& json, const std::string& where);  // throws Error(usage)

void save_sweep(const std::filesystem::path& folder, const StoredSweep& sweep);
// By id, its beginning or its end; "last": the newest. Throws Error(usage) when there is none, more than one, or it is broken.
StoredSweep load_sweep_file(const std::filesystem::path& folder, const std::string& id_or_part);

}  // namespace erg
