// SIGINT and SIGTERM as a flag, passed on to the children that run meanwhile.
// The handler touches lock-free atomics and async-signal-safe calls only.
#include "core/interrupt.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>

#include "core/error.hpp"

namespace erg {
namespace {

std::atomic<int> signal_seen{0};
std::array<std::atomic<int>, 64> child_groups{};  // 0: free

void on_signal(int signal) {
  const int saved = errno;
  const bool second = signal_seen.exchange(signal) != 0;
  for (const auto& group : child_groups)
    if (const int id = group.load(); id > 0) ::kill(-id, second ? SIGKILL : signal);
  if (second) ::_exit(130);
  errno = saved;
}

struct sigaction handler_action() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  sigaddset(&action.sa_mask, SIGINT);
  sigaddset(&action.sa_mask, SIGTERM);
  return action;  // no SA_RESTART: waiting calls return and see the flag
}

}  // namespace

void install_interrupt_handlers() {
  const struct sigaction action = handler_action();
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return signal_seen.load() != 0; }
int interrupt_signal() { return signal_seen.load(); }
void reset_interrupt() { signal_seen = 0; }

InterruptForwarding::InterruptForwarding(int process_group) {
  for (size_t i = 0; i < child_groups.size(); ++i) {
    int free = 0;
    if (!child_groups[i].compare_exchange_strong(free, process_group)) continue;
    slot_ = i;
    return;
  }
  throw Error(ErrorKind::failed, "more than 64 child processes at once");
}

InterruptForwarding::~InterruptForwarding() { child_groups[slot_] = 0; }

ScopedInterruptHandlers::ScopedInterruptHandlers() {
  ::sigaction(SIGINT, nullptr, &old_int_);
  ::sigaction(SIGTERM, nullptr, &old_term_);
  const struct sigaction action = handler_action();
  if (old_int_.sa_handler == SIG_DFL) ::sigaction(SIGINT, &action, nullptr);
  if (old_term_.sa_handler == SIG_DFL) ::sigaction(SIGTERM, &action, nullptr);
}

ScopedInterruptHandlers::~ScopedInterruptHandlers() {
  ::sigaction(SIGINT, &old_int_, nullptr);
  ::sigaction(SIGTERM, &old_term_, nullptr);
}

}  // namespace erg
