// The first signal is a flag, the second ends the process.
#include "core/interrupt.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace erg {
namespace {

TEST(Interrupt, FirstSignalIsAFlag) {
  EXPECT_FALSE(interrupted());
  {
    const ScopedInterruptHandlers handlers;
    std::raise(SIGTERM);
    EXPECT_TRUE(interrupted());
    EXPECT_EQ(interrupt_signal(), SIGTERM);
  }
  reset_interrupt();
  EXPECT_FALSE(interrupted());
  EXPECT_EQ(interrupt_signal(), 0);
}

TEST(InterruptDeathTest, SecondSignalEndsTheProcess) {
  EXPECT_EXIT(
      {
        install_interrupt_handlers();
        std::raise(SIGINT);
        std::raise(SIGINT);
      },
      ::testing::ExitedWithCode(130), "");
}

TEST(InterruptDeathTest, ScopedHandlersPutTheOldBehaviourBack) {
  EXPECT_EXIT(
      {
        std::signal(SIGINT, SIG_DFL);  // shells start background jobs with SIGINT ignored
        { const ScopedInterruptHandlers handlers; }
        std::raise(SIGINT);
      },
      ::testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace erg
