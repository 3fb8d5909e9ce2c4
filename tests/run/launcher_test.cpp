// A launcher's template in words, and what is wrong with it.
#include "run/launcher.hpp"

#include <gmock/gmock.h>

#include "core/error.hpp"

namespace erg {
namespace {

using testing::ElementsAre;

const LauncherFacts facts = {4, 2, "20260101T000000.000Z-h-000001-0003"};

TEST(Launcher, IsCutAtBlanksAndFilled) {
  EXPECT_THAT(launcher_words("srun -n 1  --gpus={devices}", facts), ElementsAre("srun", "-n", "1", "--gpus=4"));
  EXPECT_THAT(launcher_words("a {point}.{id}", facts), ElementsAre("a", "3." + facts.id));
  EXPECT_THAT(launcher_words("", facts), ElementsAre());
}

TEST(Launcher, QuotesHoldAWordTogether) {
  EXPECT_THAT(launcher_words(R"(sh -c 'echo "x y"; exec "$@"' "" a"b c"d)", facts),
              ElementsAre("sh", "-c", R"(echo "x y"; exec "$@")", "", "ab cd"));
}

TEST(Launcher, SaysWhatIsWrong) {
  for (const char* text : {"srun {nodes}", "srun {", "srun 'x", "srun \"x"}) EXPECT_THROW(launcher_words(text, facts), Error) << text;
}

}  // namespace
}  // namespace erg
