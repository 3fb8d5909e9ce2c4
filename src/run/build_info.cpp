// Facts that CMake defines for this file alone; the revision comes from a generated source that changes only when the clone does.
#include "run/build_info.hpp"

#include "run/git_revision.hpp"

namespace erg {

const BuildInfo& build_info() {
  static const BuildInfo info = [] {
    BuildInfo b;
    b.version = ERG_VERSION;
    b.git_revision = git_revision;
    b.git_dirty = git_dirty;
    b.compiler = ERG_COMPILER;
    b.flags = ERG_FLAGS;
    b.build_type = ERG_BUILD_TYPE;
    b.sanitizers = ERG_SANITIZERS;
#ifdef NDEBUG
    b.debug = !b.sanitizers.empty();
#else
    b.debug = true;
#endif
    return b;
  }();
  return info;
}

Json build_json() {
  const BuildInfo& b = build_info();
  return {{"version", b.version}, {"git_revision", b.git_revision}, {"git_dirty", b.git_dirty},  {"compiler", b.compiler},
          {"flags", b.flags},     {"build_type", b.build_type},     {"sanitizers", b.sanitizers}};
}

}  // namespace erg
