// A meter that says what a test told it to.
#pragma once
#include <deque>
#include <utility>

#include "meter/meter.hpp"

namespace erg {

class FakeMeter : public Meter {
 public:
  // Readings are given out in order; when they are used up, the sensor has gone away.
  FakeMeter(MeterInfo info, std::deque<std::optional<MeterReading>> readings) : info_(std::move(info)), readings_(std::move(readings)) {}
  MeterInfo info() const override { return info_; }
  std::optional<MeterReading> read() override {
    if (readings_.empty()) return std::nullopt;
    const auto reading = readings_.front();
    readings_.pop_front();
    return reading;
  }

 private:
  MeterInfo info_;
  std::deque<std::optional<MeterReading>> readings_;
};

}  // namespace erg
