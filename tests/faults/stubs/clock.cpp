// Preloaded: a wall clock that steps by ERG_CLOCK_STEP_S a second after the process first asked for it. Other clocks are let through.
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>

extern "C" int clock_gettime(clockid_t clock, timespec* t) noexcept {
  const long result = ::syscall(SYS_clock_gettime, clock, t);
  if (clock != CLOCK_REALTIME || result != 0) return int(result);
  static const timespec first = *t;
  const double used = double(t->tv_sec - first.tv_sec) + 1e-9 * double(t->tv_nsec - first.tv_nsec);
  const char* step = std::getenv("ERG_CLOCK_STEP_S");
  if (step && used > 1) t->tv_sec += std::atol(step);
  return 0;
}
