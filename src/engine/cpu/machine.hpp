// What the processor is and how much of it is ours.
#pragma once
#include <string>

namespace erg {

std::string processor_name();  // /proc/cpuinfo's model name, or the architecture
int usable_cores();            // allowed by affinity and by the cgroup's CPU quota (rounded up), at least 1
int64_t address_space_left();  // bytes under `ulimit -v`; a very large number without such a limit
// What oneDNN is left with: where it is refused memory for a kernel, it may crash.
inline constexpr int64_t library_space = 64 << 20;
int64_t available_memory();  // bytes that can still be had: the machine's, or less where a cgroup limits us

}  // namespace erg
