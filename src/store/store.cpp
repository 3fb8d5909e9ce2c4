// The Store: ids, writing aside and renaming, finding and listing. Reading the files is in files.cpp, the index in index.cpp.
#include "store/store.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <random>

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "store/files.hpp"
#include "store/index.hpp"
#include "store/process_id.hpp"

namespace erg {
namespace {

// A run that says RUNNING and whose process is gone was killed: shown so, while its file stays as it was.
Record as_seen_now(Record record) {
  if (record.status == Status::running && certainly_dead(record.process)) {
    record.status = Status::interrupted;
    record.status_reason = "process died";
  }
  return record;
}

// In a folder's name: letters, digits and hyphens of the host's first label.
std::string short_host() {
  std::string host = host_name();
  host.resize(std::min(host.find('.'), std::min<size_t>(host.size(), 24)));
  std::replace_if(
      host.begin(), host.end(), [](unsigned char c) { return !std::isalnum(c); }, '-');
  return host;
}

}  // namespace

Store::Store(std::filesystem::path folder, Access access) : folder_(std::move(folder)) {
  if (access == Access::read) return;
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error)
    throw Error(ErrorKind::usage, fmt::format("cannot make the results folder: {}", error.message()), folder_.string(),
                "give another one with --results DIR");
  if (::access(folder_.c_str(), W_OK | X_OK) != 0)
    throw Error(ErrorKind::usage, "the results folder cannot be written", folder_.string(), "give another one with --results DIR");
}

std::string Store::new_id() const {
  const double now = steady_clock().wall();
  const auto seconds = std::time_t(std::floor(now));
  const int milliseconds = std::min(999, int((now - double(seconds)) * 1000));
  std::random_device random;
  return fmt::format("{:%Y%m%dT%H%M%S}.{:03}Z-{}-{:06x}", fmt::gmtime(seconds), milliseconds, short_host(), random() & 0xffffffu);
}

void Store::save(const Record& record) {
  Record stored = record;
  if (stored.process.is_null()) stored.process = this_process();
  std::error_code error;
  std::filesystem::create_directories(folder_ / record.id, error);
  if (error)
    throw Error(ErrorKind::failed, fmt::format("cannot make the run's folder: {}", error.message()), (folder_ / record.id).string());
  // Samples first: a complete record never lacks them.
  if (!record.step_times.empty()) write_file_atomically(samples_path(folder_, record.id), samples_text(record));
  write_file_atomically(record_path(folder_, record.id), json_text(to_json(stored)) + "\n");
}

Record Store::load(const std::string& id_or_part, bool with_samples) const {
  const std::vector<std::string> ids = stored_ids(folder_);
  if (ids.empty())
    throw Error(ErrorKind::usage, "there are no runs here yet", folder_.string(), "ergometer run gpt-tiny, or --results DIR");
  std::vector<std::string> found;
  for (const std::string& id : ids) {
    if (id == id_or_part) {
      found = {id};
      break;
    }
    if (!id_or_part.empty() && (id.starts_with(id_or_part) || id.ends_with(id_or_part))) found.push_back(id);
  }
  if (id_or_part == "last") found = {ids.back()};
  if (found.empty()) {
    const std::string near = nearest_name(id_or_part, ids);
    throw Error(ErrorKind::usage, fmt::format("there is no run \"{}\"", id_or_part), folder_.string(),
                near.empty() ? "ergometer list shows them" : "did you mean " + near + "?");
  }
  if (found.size() > 1)
    throw Error(ErrorKind::usage, fmt::format("\"{}\" stands for {} runs: {}", id_or_part, found.size(), fmt::join(found, ", ")),
                folder_.string(), "give more of the id");
  Record record = as_seen_now(read_record(folder_, found.front()));
  if (with_samples) read_samples(folder_, record);
  return record;
}

std::vector<Record> Store::list(const Query& query) const {
  if (!std::filesystem::exists(folder_)) return {};
  Index index(folder_);
  index.refresh();
  std::vector<Record> records = index.records(query);
  for (Record& r : records) r = as_seen_now(std::move(r));
  return records;
}

}  // namespace erg
