// Files read whole and written so that a crash leaves the old or the new content, never half.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace erg {

// Throws Error(usage) naming the path; also for more than `most` bytes, as /dev/zero has.
std::string read_file(const std::filesystem::path& path, size_t most = size_t(-1));
// What a power cut may take: with `nothing` a file that is new or empty or old, with `content` at most its name, with `name` nothing.
enum class Synced { nothing, content, name };
// Write aside, fsync, rename: safe on NFS and under kill -9. A device or pipe that stands there is written to and stays: a rename would put
// a file in its place, and for root /dev/null is gone. Throws Error(failed).
void write_file_atomically(const std::filesystem::path& path, std::string_view content, Synced synced = Synced::name);
// The same for a file that must not exist yet: false, and nothing changed, when it does. Of several callers on any machines that share
// the folder exactly one gets true. Throws Error(failed).
bool create_file_atomically(const std::filesystem::path& path, std::string_view content, Synced synced = Synced::name);
std::filesystem::path executable_folder();  // where the running binary lies

}  // namespace erg
