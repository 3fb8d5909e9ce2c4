// SIGINT and SIGTERM as a flag: the first asks the run to end cleanly, the second ends the process at once with 130.
#pragma once
#include <csignal>
#include <cstddef>

namespace erg {

void install_interrupt_handlers();
bool interrupted();
int interrupt_signal();  // 0 when none
void reset_interrupt();  // for tests

// While it lives, the first signal is also sent to this process group, and the second kills the group.
class InterruptForwarding {
 public:
  explicit InterruptForwarding(int process_group);
  ~InterruptForwarding();
  InterruptForwarding(const InterruptForwarding&) = delete;
  InterruptForwarding& operator=(const InterruptForwarding&) = delete;

 private:
  size_t slot_ = 0;
};

// Installs the handlers where the signals would have ended the process at once, and puts the old behaviour back at the end.
class ScopedInterruptHandlers {
 public:
  ScopedInterruptHandlers();
  ~ScopedInterruptHandlers();
  ScopedInterruptHandlers(const ScopedInterruptHandlers&) = delete;
  ScopedInterruptHandlers& operator=(const ScopedInterruptHandlers&) = delete;

 private:
  struct sigaction old_int_ {
  }, old_term_{};
};

}  // namespace erg
