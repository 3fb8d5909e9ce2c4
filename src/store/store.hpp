// The results folder: one folder a run, record.json and samples.json written aside and renamed; index.db is only an index of them.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "store/record.hpp"

namespace erg {

class Store {
 public:
  enum class Access { write, read };
  // write: makes the folder when it is missing and checks that it can be written; throws Error(usage) with the fix.
  // read: the folder may be missing (no runs yet) or read-only.
  explicit Store(std::filesystem::path folder, Access access = Access::write);
  const std::filesystem::path& folder() const { return folder_; }
  std::string new_id() const;
  void save(const Record& record);  // RUNNING first (with pid, host, boot id), then complete
  // Saves it unless there is a record of this id already: of several callers on any machines exactly one gets true.
  bool claim(const Record& record);
  // By id, its beginning or its end; "last": the newest. Throws Error(usage) when there is none or more than one.
  Record load(const std::string& id_or_part, bool with_samples = false) const;
  struct Query {
    std::string sweep_id, spec_hash;
    int limit = 0;
    std::vector<std::pair<std::string, std::string>> labels = {};  // all of them
    bool brief = false;                                            // only what a line of a list shows: status, spec, rate, losses, flags
  };                                                               // limit: the newest so many; 0: all
  std::vector<Record> list(const Query& query) const;  // oldest first, without samples; broken files are reported on stderr, never fatal
  std::vector<Record> list() const { return list(Query{}); }

 private:
  void make_folder(const std::string& id) const;

  std::filesystem::path folder_;
};

}  // namespace erg
