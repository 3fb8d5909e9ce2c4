// Clocks: the real one only moves forward, the fake one only when told.
#include "core/clock.hpp"

#include <gtest/gtest.h>

namespace erg {
namespace {

TEST(Clock, RealOneMovesForward) {
  Clock& clock = steady_clock();
  const double before = clock.now();
  clock.sleep(-1);  // returns at once
  clock.sleep(0.001);
  EXPECT_GE(clock.now(), before + 0.001);
  EXPECT_GT(clock.wall(), 1.7e9);
}

TEST(Clock, FakeOneSleepsInNoTime) {
  FakeClock clock;
  clock.sleep(2.5);
  clock.advance(1);
  EXPECT_DOUBLE_EQ(clock.now(), 3.5);
  EXPECT_DOUBLE_EQ(clock.wall(), 1.7e9 + 3.5);
}

TEST(Clock, Iso8601) {
  EXPECT_EQ(iso8601(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(iso8601(951782399.9), "2000-02-28T23:59:59Z");  // cut, not rounded; date -u -d @951782399
  EXPECT_EQ(iso8601(951868799), "2000-02-29T23:59:59Z");
  EXPECT_EQ(iso8601(1796103960), "2026-12-01T05:46:00Z");
}

}  // namespace
}  // namespace erg
