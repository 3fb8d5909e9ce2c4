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

// A run that is going on does not outlive a power cut, so neither need its record.
Synced needed(const Record& record) { return record.status == Status::running ? Synced::nothing : Synced::name; }

// Damage inside the index may show only when its rows are read: it is made anew then, as when it cannot be opened.
std::vector<Record> indexed(const std::filesystem::path& folder, const Store::Query& query) {
  Index index(folder);
  index.refresh();
  try {
    return index.records(query);
  } catch (const std::exception&) {  // SQLite's, or rows that are no records
    index.discard();
    index.refresh();
    return index.records(query);
  }
}

std::string record_text(Record record) {
  if (record.process.is_null()) record.process = this_process();
  return json_text(to_json(record)) + "\n";
}

bool readable(const std::filesystem::path& folder, const std::string& id) {
  try {
    read_record(folder, id);
    return true;
  } catch (const Error&) { return false; }
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
  make_folder(record.id);
  // Samples first: a complete record never lacks them.
  if (!record.step_times.empty()) write_file_atomically(samples_path(folder_, record.id), samples_text(record), Synced::content);
  write_file_atomically(record_path(folder_, record.id), record_text(record), needed(record));
}

bool Store::claim(const Record& record) {
  make_folder(record.id);
  return create_file_atomically(record_path(folder_, record.id), record_text(record), needed(record));
}

void Store::make_folder(const std::string& id) const {
  std::error_code error;
  std::filesystem::create_directories(folder_ / id, error);
  if (error) throw Error(ErrorKind::failed, fmt::format("cannot make the run's folder: {}", error.message()), (folder_ / id).string());
}

Record Store::load(const std::string& id_or_part, bool with_samples) const {
  std::vector<std::string> ids = stored_ids(folder_);
  if (id_or_part == "last")  // what cannot be read is no run: `list` names it
    while (ids.size() > 1 && !readable(folder_, ids.back())) ids.pop_back();
  const std::string id = find_id(ids, id_or_part, "run", folder_, "ergometer run gpt-tiny, or --results DIR");
  Record record = as_seen_now(read_record(folder_, id));
  if (with_samples) read_samples(folder_, record);
  return record;
}

std::vector<Record> Store::list(const Query& query) const {
  if (!std::filesystem::exists(folder_)) return {};
  std::vector<Record> records = indexed(folder_, query);
  for (Record& r : records) r = as_seen_now(std::move(r));
  return records;
}

}  // namespace erg
