// The one exception type of Ergometer: what went wrong, where, and how to fix it.
// The command line turns its kind into the exit code (DESIGN §4).
#pragma once
#include <span>
#include <stdexcept>
#include <string>

namespace erg {

enum class ErrorKind {
  usage,         // bad command line, spec or data: exit 2
  failed,        // the work itself failed: exit 1
  unavailable,   // a device, back end or library is not there: exit 77
  out_of_memory  // the point does not fit: status OOM, exit 1
};

class Error : public std::runtime_error {
 public:
  // what() reads "WHERE: MESSAGE\n  fix: FIX" with the empty parts left out.
  Error(ErrorKind kind, const std::string& message, std::string where = {}, std::string fix = {});
  ErrorKind kind() const { return kind_; }
  const std::string& message() const { return message_; }
  const std::string& where() const { return where_; }
  const std::string& fix() const { return fix_; }
  int exit_code() const;

 private:
  ErrorKind kind_;
  std::string message_, where_, fix_;
};

// The name nearest to `typo` by edit distance, or "" when none is within a third of its length (at least 2, at most half).
std::string nearest_name(const std::string& typo, std::span<const std::string> names);

}  // namespace erg
