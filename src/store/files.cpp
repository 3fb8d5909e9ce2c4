// Reading and naming the files of a results folder.
#include "store/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/error.hpp"
#include "core/file.hpp"

namespace erg {
namespace {

// JSON has no NaN: a loss that was not finite is null in the file.
std::vector<double> numbers(const Json& array) {
  std::vector<double> values;
  for (const Json& v : array) values.push_back(v.is_number() ? v.get<double>() : std::numeric_limits<double>::quiet_NaN());
  return values;
}

}  // namespace

std::filesystem::path record_path(const std::filesystem::path& folder, const std::string& id) { return folder / id / "record.json"; }
std::filesystem::path samples_path(const std::filesystem::path& folder, const std::string& id) { return folder / id / "samples.json"; }

std::vector<std::string> stored_ids(const std::filesystem::path& folder) {
  std::vector<std::string> ids;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (!entry.path().filename().native().starts_with('.') && std::filesystem::exists(entry.path() / "record.json", error))
      ids.push_back(entry.path().filename());  // hidden ones are being copied here
  std::sort(ids.begin(), ids.end());
  return ids;
}

Json parse_json_file(const std::filesystem::path& path) {
  try {
    return Json::parse(read_file(path));
  } catch (const nlohmann::json::exception& e) {
    throw Error(ErrorKind::usage, fmt::format("is not JSON: {}", e.what()), path.string(), "remove or restore this file");
  }
}

std::string find_id(const std::vector<std::string>& ids, const std::string& id_or_part, const std::string& what,
                    const std::filesystem::path& folder, const std::string& first_fix) {
  if (ids.empty()) throw Error(ErrorKind::usage, fmt::format("there are no {}s here yet", what), folder.string(), first_fix);
  if (id_or_part == "last") return ids.back();
  std::vector<std::string> found;
  for (const std::string& id : ids) {
    if (id == id_or_part) return id;
    if (!id_or_part.empty() && (id.starts_with(id_or_part) || id.ends_with(id_or_part))) found.push_back(id);
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    const std::string near = nearest_name(id_or_part, ids);
    throw Error(ErrorKind::usage, fmt::format("there is no {} \"{}\"", what, id_or_part), folder.string(),
                near.empty() ? "ergometer list shows them" : "did you mean " + near + "?");
  }
  throw Error(ErrorKind::usage, fmt::format("\"{}\" stands for {} {}s: {}", id_or_part, found.size(), what, fmt::join(found, ", ")),
              folder.string(), "give more of the id");
}

Record read_record(const std::filesystem::path& folder, const std::string& id) {
  const auto path = record_path(folder, id);
  std::error_code unknown;
  if (const auto status = std::filesystem::status(path, unknown); exists(status) && !is_regular_file(status))
    throw Error(ErrorKind::usage, "is not a file", path.string(), "remove it");
  Record record;
  try {
    record = record_from_json(parse_json_file(path));
  } catch (const Error& e) {
    if (!e.where().empty()) throw;
    throw Error(ErrorKind::usage, e.message(), path.string(), e.fix());
  }
  // Folders are copied between machines; one that was renamed would be found under one name and shown under another.
  if (record.id != id)
    throw Error(ErrorKind::usage, fmt::format("holds the run {}", record.id), path.string(), "give the folder its run's name");
  return record;
}

void read_samples(const std::filesystem::path& folder, Record& record) {
  const auto path = samples_path(folder, record.id);
  if (!std::filesystem::exists(path)) return;
  const Json json = parse_json_file(path);
  if (!json.is_object()) throw Error(ErrorKind::usage, "is not an object", path.string());
  record.step_times = numbers(json.value("step_times", Json::array()));
  record.losses = numbers(json.value("losses", Json::array()));
}

std::string samples_text(const Record& record) {
  return Json{{"schema_version", 1}, {"step_times", record.step_times}, {"losses", record.losses}}.dump() + "\n";
}

}  // namespace erg
