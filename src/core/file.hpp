// Files read whole and written so that a crash leaves the old or the new content, never half.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace erg {

// Throws Error(usage) naming the path; also for more than `most` bytes, as /dev/zero has.
std::string read_file(const std::filesystem::path& path, size_t most = size_t(-1));
// Write aside, fsync, rename: safe on NFS and under kill -9. Throws Error(failed).
void write_file_atomically(const std::filesystem::path& path, std::string_view content);
// The same for a file that must not exist yet: false, and nothing changed, when it does. Of several callers on any machines that share
// the folder exactly one gets true. Throws Error(failed).
bool create_file_atomically(const std::filesystem::path& path, std::string_view content);
std::filesystem::path executable_folder();  // where the running binary lies

}  // namespace erg
