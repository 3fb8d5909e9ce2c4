# Writes OUTPUT, a source that defines git_revision and git_dirty of the clone SOURCE, and leaves it alone when nothing changed.
set(revision unavailable)
set(dirty unavailable)
find_program(GIT git)
if(GIT AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse HEAD OUTPUT_VARIABLE out OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
  if(NOT failed)
    set(revision ${out})
    execute_process(COMMAND ${GIT} -C ${SOURCE} --no-optional-locks status --porcelain --untracked-files=no OUTPUT_VARIABLE out RESULT_VARIABLE failed ERROR_QUIET)
    if(NOT failed)
      if(out STREQUAL "")
        set(dirty false)
      else()
        set(dirty true)
      endif()
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#include \"run/git_revision.hpp\"
namespace erg {
const char* const git_revision = \"${revision}\";
const char* const git_dirty = \"${dirty}\";
}  // namespace erg
")
