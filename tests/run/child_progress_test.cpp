// What a child says is what its parent reads, and nothing else is taken for it.
#include "run/child_progress.hpp"

#include <gtest/gtest.h>

namespace erg {
namespace {

TEST(ChildProgress, SurvivesTheWay) {
  const auto back = parse_progress_line(progress_line({"measure", 0.25, "step 3, 1.2 tokens/s ± 1 %"}));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->phase, "measure");
  EXPECT_DOUBLE_EQ(back->fraction, 0.25);
  EXPECT_EQ(back->detail, "step 3, 1.2 tokens/s ± 1 %");
}

TEST(ChildProgress, OtherLinesAreMessages) {
  for (const char* line : {"", "warning: something", "\x1e", "\x1ehalf\x1f"}) EXPECT_FALSE(parse_progress_line(line)) << line;
}

TEST(ChildProgress, TimeLeftInWords) {
  EXPECT_EQ(time_left(7.2), "about 8 s left");
  EXPECT_EQ(time_left(185), "about 3 min 05 s left");
}

}  // namespace
}  // namespace erg
