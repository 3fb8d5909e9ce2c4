// Numbers as a person reads them: every case is the printed text.
#include "core/units.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace erg {
namespace {

TEST(Units, SiPrefixes) {
  EXPECT_EQ(si(4.47e11, "FLOP/s"), "447 GFLOP/s");
  EXPECT_EQ(si(0.0042, "s"), "4.20 ms");
  EXPECT_EQ(si(12.345, "W"), "12.3 W");
  EXPECT_EQ(si(1, "W"), "1.00 W");
  EXPECT_EQ(si(-2500, "J"), "-2.50 kJ");
  EXPECT_EQ(si(0, "J"), "0 J");
  EXPECT_EQ(si(999.6e9, "FLOP/s"), "1.00 TFLOP/s");  // rounds into the next prefix
  EXPECT_EQ(si(1.5e-6, "s"), "1.50 µs");
  EXPECT_EQ(si(5e21, "FLOP"), "5000 EFLOP");  // beyond the largest prefix
  EXPECT_EQ(si(1234.5, "W", 5), "1.2345 kW");
  EXPECT_EQ(si(std::numeric_limits<double>::quiet_NaN(), "W"), "nan W");
}

TEST(Units, SignificantDigits) {
  EXPECT_EQ(significant(16.1), "16.10");
  EXPECT_EQ(significant(0.001234), "0.001234");
  EXPECT_EQ(significant(0.0001), "0.0001000");
  EXPECT_EQ(significant(9999.96), "10000");
  EXPECT_EQ(significant(123456), "123456");  // digits that are there stay
  EXPECT_EQ(significant(9999999), "1.000e+07");
  EXPECT_EQ(significant(0.00001234), "1.234e-05");
  EXPECT_EQ(significant(-3.14159, 3), "-3.14");
  EXPECT_EQ(significant(0), "0");
}

TEST(Units, Durations) {
  EXPECT_EQ(duration(0), "0 s");
  EXPECT_EQ(duration(4.2e-3), "4.2 ms");
  EXPECT_EQ(duration(3.5e-8), "35.0 ns");
  EXPECT_EQ(duration(999.96e-6), "1.0 ms");
  EXPECT_EQ(duration(12.34), "12.3 s");
  EXPECT_EQ(duration(59.96), "1 min 00 s");
  EXPECT_EQ(duration(185), "3 min 05 s");
  EXPECT_EQ(duration(3599.6), "1 h 00 min");
  EXPECT_EQ(duration(7384), "2 h 03 min");
  EXPECT_EQ(duration(-1.5), "-1.5 s");
}

TEST(Units, Bytes) {
  EXPECT_EQ(bytes_text(1.54e9), "1.54 GB");
  EXPECT_EQ(bytes_text(512), "512 B");
  EXPECT_EQ(bytes_text(1000), "1.00 kB");
  EXPECT_EQ(bytes_text(0), "0 B");
}

}  // namespace
}  // namespace erg
