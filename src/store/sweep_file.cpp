// {"schema_version":1, "id", "started", "launcher", "points":[{"spec": TOML text, "spec_hash", "coordinates", "skip_reason"}]}
#include "store/sweep_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/file.hpp"
#include "store/files.hpp"

namespace erg {
namespace {

constexpr int schema_version = 1;

SweepPoint point_from_json(const Json& json, const std::string& where) {
  SweepPoint point;
  point.spec = spec_from_toml(json.at("spec").get<std::string>(), where);
  point.skip_reason = json.value("skip_reason", "");
  for (const auto& [key, value] : json.at("coordinates").items()) point.coordinates.emplace_back(key, value.get<std::string>());
  // A newer or older program may understand the same text as something else: then it must not go on under this sweep's name.
  if (spec_hash(point.spec) != json.at("spec_hash").get<std::string>())
    throw Error(ErrorKind::usage, "a point's spec no longer gives the stored hash", where, "start a new sweep with this version");
  return point;
}

}  // namespace

std::string StoredSweep::record_id(size_t point, int attempt) const {
  const size_t digits = std::max<size_t>(4, std::to_string(points.size()).size());
  return fmt::format("{}-{:0{}}{}", id, point + 1, digits, attempt > 1 ? fmt::format(".{}", attempt) : "");
}

std::filesystem::path sweep_path(const std::filesystem::path& folder, const std::string& id) { return folder / "sweeps" / (id + ".json"); }

std::vector<std::string> stored_sweeps(const std::filesystem::path& folder) {
  std::vector<std::string> ids;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "sweeps", error))
    if (const auto& path = entry.path(); path.extension() == ".json" && !path.filename().native().starts_with('.'))
      ids.push_back(path.stem());
  std::sort(ids.begin(), ids.end());
  return ids;
}

Json to_json(const StoredSweep& sweep) {
  Json points = Json::array();
  for (const SweepPoint& p : sweep.points) {
    Json coordinates = Json::object();
    for (const auto& [key, value] : p.coordinates) coordinates[key] = value;
    points.push_back(
        {{"spec", to_toml(p.spec)}, {"spec_hash", spec_hash(p.spec)}, {"coordinates", coordinates}, {"skip_reason", p.skip_reason}});
  }
  return {{"schema_version", schema_version},
          {"id", sweep.id},
          {"started", sweep.started},
          {"launcher", sweep.launcher},
          {"points", std::move(points)}};
}

StoredSweep sweep_from_json(const Json& json, const std::string& where) {
  try {
    if (const int version = json.at("schema_version"); version != schema_version)
      throw Error(ErrorKind::usage, fmt::format("the sweep has schema_version {}, this program reads {}", version, schema_version), where);
    StoredSweep sweep{json.at("id"), json.value("started", ""), json.value("launcher", ""), {}};
    for (const Json& point : json.at("points")) sweep.points.push_back(point_from_json(point, where));
    return sweep;
  } catch (const nlohmann::json::exception& e) {
    throw Error(ErrorKind::usage, fmt::format("is not a stored sweep: {}", e.what()), where, "remove or restore this file");
  }
}

void save_sweep(const std::filesystem::path& folder, const StoredSweep& sweep) {
  const auto path = sweep_path(folder, sweep.id);
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (error) throw Error(ErrorKind::failed, fmt::format("cannot make the folder: {}", error.message()), path.parent_path().string());
  write_file_atomically(path, json_text(to_json(sweep)) + "\n");
}

StoredSweep load_sweep_file(const std::filesystem::path& folder, const std::string& id_or_part) {
  const std::string id = find_id(stored_sweeps(folder), id_or_part, "sweep", folder, "ergometer sweep SPEC, or --results DIR");
  const auto path = sweep_path(folder, id);
  StoredSweep sweep = sweep_from_json(parse_json_file(path), path.string());
  if (sweep.id != id)
    throw Error(ErrorKind::usage, fmt::format("holds the sweep {}", sweep.id), path.string(), "give the file its sweep's name");
  return sweep;
}

}  // namespace erg
