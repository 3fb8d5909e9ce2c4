// What the processor is and how much of it is ours.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace erg {

std::string processor_name();      // /proc/cpuinfo's model name, or the architecture
std::vector<int> allowed_cores();  // by affinity, one logical CPU of each
int usable_cores();                // the same as a number, within the cgroup's CPU quota (rounded up), at least 1
void stay_on(int cpu);             // the calling thread, from now on
int64_t address_space_left();      // bytes under `ulimit -v`; a very large number without such a limit
// What oneDNN is left with: where it is refused memory for a kernel, it may crash.
inline constexpr int64_t library_space = 64 << 20;
int64_t available_memory();  // bytes that can still be had: the machine's, or less where a cgroup limits us

}  // namespace erg
