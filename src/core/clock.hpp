// The clock as a door, so that tests of the measuring loop need not wait.
#pragma once
#include <string>

namespace erg {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual double now() const = 0;   // seconds on a clock that never steps
  virtual double wall() const = 0;  // seconds since 1970, may step
  virtual void sleep(double seconds) = 0;
};

Clock& steady_clock();  // the real one

// Advances only when told; sleep() advances it.
class FakeClock : public Clock {
 public:
  double now() const override { return t_; }
  double wall() const override { return wall0_ + t_; }
  void sleep(double s) override { t_ += s; }
  void advance(double s) { t_ += s; }

 private:
  double t_ = 0, wall0_ = 1.7e9;
};

std::string iso8601(double wall_seconds);  // "2026-12-01T05:46:00Z"

}  // namespace erg
