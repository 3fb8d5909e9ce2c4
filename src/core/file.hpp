// Files read whole and written so that a crash leaves the old or the new content, never half.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace erg {

std::string read_file(const std::filesystem::path& path);  // throws Error(usage) naming the path
// Write aside, fsync, rename: safe on NFS and under kill -9. Throws Error(failed).
void write_file_atomically(const std::filesystem::path& path, std::string_view content);
// $XDG_CACHE_HOME/ergometer or ~/.cache/ergometer, or a folder in /tmp when neither can be made.
std::filesystem::path cache_folder();
std::filesystem::path executable_folder();  // where the running binary lies

}  // namespace erg
