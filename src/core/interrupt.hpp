// SIGINT and SIGTERM as a flag: the first asks the run to end cleanly, the second ends the process at once with 130.
#pragma once

namespace erg {

void install_interrupt_handlers();
bool interrupted();
int interrupt_signal();        // 0 when none
void reset_interrupt();        // for tests

}  // namespace erg
