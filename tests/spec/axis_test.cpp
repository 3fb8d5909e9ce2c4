// The grammar of --axis.
#include <gmock/gmock.h>

#include "spec_file.hpp"

namespace erg {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> values(const std::string& items) { return parse_axis("x=" + items).values; }
std::string failure(const std::string& text) {
  return error_of([&] { parse_axis(text); });
}

TEST(ParseAxis, ValuesAndRanges) {
  EXPECT_EQ(parse_axis("workload.global_batch=1").key, "workload.global_batch");
  EXPECT_THAT(values("16,32-2048*2"), ElementsAre("16", "32", "64", "128", "256", "512", "1024", "2048"));
  EXPECT_THAT(values("1-9+4"), ElementsAre("1", "5", "9"));
  EXPECT_THAT(values("1-8+4"), ElementsAre("1", "5"));  // what lies beyond the last is left out
  EXPECT_THAT(values("3-100*5"), ElementsAre("3", "15", "75"));
  EXPECT_THAT(values("7-7*2"), ElementsAre("7"));
  EXPECT_THAT(values("0-2+1"), ElementsAre("0", "1", "2"));
  EXPECT_THAT(values(" 1 , 2 - 8 * 2 "), ElementsAre("1", "2", "4", "8"));
}

TEST(ParseAxis, WhatIsNoRangeIsAValue) {
  EXPECT_THAT(values("fp32,bf16"), ElementsAre("fp32", "bf16"));
  EXPECT_THAT(values("1e-4,3e-4"), ElementsAre("1e-4", "3e-4"));
  EXPECT_THAT(values("gpt-117m,gpt-800m"), ElementsAre("gpt-117m", "gpt-800m"));
  EXPECT_THAT(values("\"a,b\",c"), ElementsAre("\"a,b\"", "c"));
  EXPECT_THAT(values("[1,1,1,1],[3,4,6,3]"), ElementsAre("[1,1,1,1]", "[3,4,6,3]"));
}

TEST(ParseAxis, AValueNamedTwiceIsOnePoint) { EXPECT_THAT(values("8,4-16*2,4"), ElementsAre("8", "4", "16")); }

TEST(ParseAxis, LargeNumbersDoNotOverflow) {
  EXPECT_THAT(values("4611686018427387904-9223372036854775807*2"), ElementsAre("4611686018427387904"));
  EXPECT_THAT(values("9223372036854775806-9223372036854775807+1"), ElementsAre("9223372036854775806", "9223372036854775807"));
  EXPECT_THAT(failure("x=1-99999999999999999999*2"), HasSubstr("99999999999999999999 does not fit into 64 bits"));
}

TEST(ParseAxis, Errors) {
  EXPECT_EQ(failure("x=1-8"), "--axis x=1-8: range 1-8 has no step\n  fix: write 1-8+1 or 1-8*2");
  EXPECT_EQ(failure("x=8-1*2"), "--axis x=8-1*2: range 8-1*2 never ends\n  fix: ranges go up: 16-128*2 or 1-9+2");
  EXPECT_THAT(failure("x=1-8*1"), HasSubstr("never ends"));
  EXPECT_THAT(failure("x=1-8+0"), HasSubstr("never ends"));
  EXPECT_THAT(failure("x=0-8*2"), HasSubstr("never ends"));
  EXPECT_THAT(failure("x=1,,2"), HasSubstr("there is an empty value"));
  EXPECT_THAT(failure("x="), HasSubstr("there is an empty value"));
  EXPECT_THAT(failure("x"), HasSubstr("there is no key=values"));
  EXPECT_THAT(failure("=1"), HasSubstr("there is no key=values"));
  EXPECT_THAT(failure("x=1-1000000000+1"), HasSubstr("more than 10000 values"));
}

}  // namespace
}  // namespace erg
