// A run's folder is copied under a hidden name and renamed, so that a run is here whole or not at all.
#include "store/merge.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/file.hpp"
#include "store/files.hpp"
#include "store/sweep_file.hpp"

namespace erg {
namespace fs = std::filesystem;
namespace {

// The record with its samples, or an Error that says what is missing.
Record whole_record(const fs::path& folder, const std::string& id) {
  Record r = read_record(folder, id);
  read_samples(folder, r);
  const bool measured = r.phases.is_object() && r.phases.contains("measure_steps") && r.phases.at("measure_steps") != 0;
  if (measured && r.step_times.empty())
    throw Error(ErrorKind::usage, "the record's samples are missing", samples_path(folder, id).string(), "copy the run's folder again");
  return r;
}

class Merge {
 public:
  Merge(Store& store, const fs::path& from) : store_(store), from_(from) {}

  MergeResult operator()() {
    for (const std::string& id : stored_ids(from_)) guarded([&] { take_run(id); });
    for (const std::string& id : stored_sweeps(from_)) guarded([&] { take_sweep(id); });
    return std::move(result_);
  }

 private:
  // What is wrong with one of them is said and stays there; that ours cannot be written ends everything.
  template <class Take>
  void guarded(const Take& take) {
    try {
      take();
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::usage) throw;
      result_.left_out.push_back(e.what());
    }
  }

  void take_run(const std::string& id) {
    const Record theirs = whole_record(from_, id);
    if (!fs::exists(record_path(store_.folder(), id))) return copy_folder(id);
    Record ours;
    try {
      ours = whole_record(store_.folder(), id);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::usage) throw;
      return replace(theirs);  // ours is broken, theirs is not
    }
    if (to_json(ours) == to_json(theirs) && ours.step_times == theirs.step_times)
      ++result_.same;
    else if (theirs.spec_hash != ours.spec_hash || theirs.sweep_id != ours.sweep_id)
      conflict(id);
    else if (ours.status == Status::running && theirs.status != Status::running)
      replace(theirs);
    else if (theirs.status == Status::running)
      ++result_.same;  // an older state of what we have
    else
      conflict(id);
  }

  void take_sweep(const std::string& id) {
    const StoredSweep theirs = load_sweep_file(from_, id);
    if (!fs::exists(sweep_path(store_.folder(), id))) {
      save_sweep(store_.folder(), theirs);
      ++result_.sweeps;
    } else if (to_json(load_sweep_file(store_.folder(), id)) == to_json(theirs)) {
      ++result_.same;
    } else {
      conflict(id);
    }
  }

  void replace(const Record& theirs) {
    store_.save(theirs);
    ++result_.runs;
  }
  void conflict(const std::string& id) {
    result_.conflicts.push_back(fmt::format("{}: differs from {}", (from_ / id).string(), (store_.folder() / id).string()));
  }

  void copy_folder(const std::string& id) {
    const fs::path aside = store_.folder() / fmt::format(".merge-{}", store_.new_id());
    try {
      fs::create_directories(aside);
      for (const auto& file : fs::directory_iterator(from_ / id))
        if (file.is_regular_file() && !file.is_symlink() && !file.path().filename().native().starts_with('.'))
          write_file_atomically(aside / file.path().filename(), read_file(file.path()));
      std::error_code exists;
      fs::rename(aside, store_.folder() / id, exists);
      if (exists) {
        fs::remove_all(aside);
        // A folder without a record, left by a run that was killed early, or somebody was faster: then its record stands.
        if (!fs::exists(record_path(store_.folder(), id))) return replace(whole_record(from_, id));
        ++result_.same;
        return;
      }
      ++result_.runs;
    } catch (const fs::filesystem_error& e) {
      std::error_code ignored;
      fs::remove_all(aside, ignored);
      throw Error(ErrorKind::failed, fmt::format("cannot copy the run: {}", e.code().message()), (from_ / id).string());
    } catch (...) {
      std::error_code ignored;
      fs::remove_all(aside, ignored);
      throw;
    }
  }

  Store& store_;
  const fs::path& from_;
  MergeResult result_;
};

}  // namespace

MergeResult merge_into(Store& store, const fs::path& from) {
  std::error_code error;
  if (!fs::is_directory(from, error)) throw Error(ErrorKind::usage, "there is no such folder", from.string(), "give a results folder");
  if (fs::equivalent(from, store.folder(), error))
    throw Error(ErrorKind::usage, "this is the results folder itself", from.string(), "name the target with --results DIR");
  return Merge(store, from)();
}

}  // namespace erg
