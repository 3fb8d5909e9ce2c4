// The text of errors, their exit codes (DESIGN §4), and nearest names.
#include "core/error.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace erg {
namespace {

TEST(Error, TextLeavesOutEmptyParts) {
  EXPECT_STREQ(Error(ErrorKind::failed, "it broke").what(), "it broke");
  EXPECT_STREQ(Error(ErrorKind::usage, "it broke", "a.toml:3:1").what(), "a.toml:3:1: it broke");
  EXPECT_STREQ(Error(ErrorKind::usage, "it broke", "a.toml:3:1", "mend it").what(), "a.toml:3:1: it broke\n  fix: mend it");
  EXPECT_STREQ(Error(ErrorKind::usage, "it broke", "", "mend it").what(), "it broke\n  fix: mend it");
}

TEST(Error, ExitCodes) {
  EXPECT_EQ(Error(ErrorKind::failed, "").exit_code(), 1);
  EXPECT_EQ(Error(ErrorKind::usage, "").exit_code(), 2);
  EXPECT_EQ(Error(ErrorKind::unavailable, "").exit_code(), 77);
  EXPECT_EQ(Error(ErrorKind::out_of_memory, "").exit_code(), 1);
}

TEST(NearestName, FindsTyposAndStaysSilentElsewhere) {
  const std::vector<std::string> names = {"global_batch", "micro_batch", "sequence", "tp", "pp"};
  EXPECT_EQ(nearest_name("global_bach", names), "global_batch");
  EXPECT_EQ(nearest_name("sequnece", names), "sequence");  // a swap is one edit
  EXPECT_EQ(nearest_name("gobalbatch", names), "global_batch");
  EXPECT_EQ(nearest_name("tpp", names), "tp");
  EXPECT_EQ(nearest_name("temperature", names), "");
  EXPECT_EQ(nearest_name("xy", names), "");  // two edits would turn it into anything of two letters
  EXPECT_EQ(nearest_name("tpx", names), "tp");
  EXPECT_EQ(nearest_name("abc", std::vector<std::string>{"ab", "axy"}), "ab");
  EXPECT_EQ(nearest_name("foo", std::vector<std::string>{"ffn"}), "");
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name("tp", {}), "");
}

}  // namespace
}  // namespace erg
