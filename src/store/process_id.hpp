// Which process on which boot of which host wrote a record, and whether it still lives.
#pragma once
#include "store/record.hpp"

namespace erg {

std::string host_name();
// {"pid":..., "pid_started":..., "host":..., "boot_id":...} of this process. pid_started (clock ticks after boot) tells it from a
// later process that got the same number.
Json this_process();
// True only when it is certain: same host, and either another boot since or that process is gone. Another host's run may well be alive.
bool certainly_dead(const Json& process);
// A run that a sweep started names the sweep's process in "sweep": as long as that lives, it will conclude the record.
bool certainly_abandoned(const Json& process);

}  // namespace erg
