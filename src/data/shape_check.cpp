// What a batch must at least be, and at most so that indices and 32-bit tokens hold.
#include "data/shape_check.hpp"

#include <limits>

#include "core/error.hpp"

namespace erg {
namespace {

void require(bool ok, const char* where, const char* message) {
  if (!ok) throw Error(ErrorKind::usage, message, where);
}

}  // namespace

void check(const TextShape& s) {
  require(s.batch >= 1 && s.sequence >= 1, "text batch", "batch and sequence must be at least 1");
  require(s.vocabulary >= 2 && s.vocabulary <= std::numeric_limits<int32_t>::max(), "text batch", "vocabulary must be 2 to 2147483647");
}

void check(const ImageShape& s) {
  require(s.batch >= 1 && s.size >= 1, "image batch", "batch and image size must be at least 1");
  require(s.classes >= 1 && s.classes <= std::numeric_limits<int32_t>::max(), "image batch", "classes must be 1 to 2147483647");
}

}  // namespace erg
