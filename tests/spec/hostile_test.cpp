// Hostile files: an error or a Spec, never a crash, never for long.
#include <gmock/gmock.h>

#include <random>

#include "core/file.hpp"
#include "spec_file.hpp"

namespace erg {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string repeated(const std::string& part, size_t times) {
  std::string text;
  for (size_t i = 0; i < times; ++i) text += part;
  return text;
}

TEST(Hostile, DeepNesting) {
  const std::string deep = ":1: nested more than 16 deep";
  EXPECT_EQ(load_error("name = " + repeated("[", 100'000)), "spec.toml:1" + deep);
  EXPECT_EQ(load_error("name = " + repeated("{a=", 100'000)), "spec.toml:1" + deep);
  EXPECT_EQ(load_error("\n" + repeated("a.", 1'000'000) + "b = 1"), "spec.toml:2" + deep);
  EXPECT_EQ(load_error("\n\n[" + repeated("a . ", 1'000'000) + "b]"), "spec.toml:3" + deep);
  EXPECT_EQ(load_error(repeated("\"a\".", 1'000'000) + "b = 1"), "spec.toml:1" + deep);
  EXPECT_EQ(load_error("x = 'never closed\n" + repeated("a.", 1'000'000)), "spec.toml:2" + deep);
  EXPECT_EQ(load_error("x = \"\"\"a\"\"\"\"\ny = '''a'''''\n" + repeated("a.", 1'000'000)), "spec.toml:3" + deep);
  EXPECT_THAT(load_error(repeated("a.", 16) + "b = 1"), HasSubstr("unknown table a"));
}

TEST(Hostile, DotsAndBracketsInStringsAndCommentsAreFine) {
  const std::string many = repeated(".[{", 500);
  const Spec s = load("# " + many + "\nworkload.preset = 'gpt-tiny' # " + many + "\nlabels.a = '" + many + "'\nlabels.b = \"\\\"" + many +
                      "\"\nlabels.c = \"\"\"\n" + many + "\"\"\"\"\"\nlabels.d = '''\n" + many + "'''");
  ASSERT_EQ(s.labels.size(), 4u);
  EXPECT_EQ(s.labels[2].second, many + "\"\"");
  EXPECT_THAT(load_error("workload.preset = 'gpt-tiny'\nx = [" + repeated("1.5, ", 500) + "]"), HasSubstr("unknown key x"));
}

TEST(Hostile, TenMegabytes) {
  EXPECT_EQ(load(repeated("# a comment of some length, again and again\n", 230'000) + "workload.preset = 'gpt-tiny'").name, "spec");
  EXPECT_THAT(load_error("name = '" + std::string(10'000'000, 'x')), StartsWith("spec.toml:1:"));
  EXPECT_EQ(load("workload.preset = 'gpt-tiny'\nname = '" + std::string(10'000'000, 'x') + "'").name.size(), 10'000'000u);
  EXPECT_LT(load_error("workload.preset = 'gpt-tiny'\nworkload.data = ['" + std::string(10'000'000, 'x') + "']").size(), 300u);
  EXPECT_LT(load_error(std::string(10'000'000, 'x') + " = 1").size(), 1000u);
  std::string keys;
  for (int i = 0; i < 100'000; ++i) keys += "key_number_" + std::to_string(i) + " = 1\n";
  EXPECT_THAT(load_error(keys), StartsWith("spec.toml:1:1: unknown key key_number_0"));
  EXPECT_THAT(load_error("workload.preset = 'gpt-tiny'\naxes.seed = '" + repeated("1,", 2'000'000) + "1'"),
              HasSubstr("more than 10000 values"));
}

TEST(Hostile, NulAndControlCharacters) {
  EXPECT_THAT(load_error(std::string("name = 'a\0b'", 12)), StartsWith("spec.toml:1:"));
  EXPECT_THAT(load_error(std::string("\0\0\0\0", 4)), StartsWith("spec.toml:1:"));
  EXPECT_THAT(load_error("\xff\xfe[\0w\0"), StartsWith("spec.toml"));
  const Spec s = load("workload.preset = 'gpt-tiny'\nname = \"a\\u0000b\\u007f\"");
  EXPECT_EQ(s.name.size(), 4u);
  EXPECT_EQ(load(to_toml(s)), s);
}

// Bytes of real specs changed, doubled, cut and swapped. Anything but a Spec or a usage error fails.
TEST(Hostile, MutatedSpecs) {
  std::vector<std::string> seeds;
  for (const auto& entry : std::filesystem::directory_iterator(ERG_SOURCE_DIR "/specs")) seeds.push_back(read_file(entry.path()));
  ASSERT_FALSE(seeds.empty());
  std::mt19937 random(5);
  const std::string bytes = "\"'[]{}=.,#\n\r\t\\0123456789-+e_ax\x80\xff";
  int errors = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = seeds[random() % seeds.size()];
    for (unsigned n = 1 + random() % 4; n > 0; --n) {
      const size_t at = random() % text.size();
      switch (random() % 4) {
        case 0: text[at] = bytes[random() % bytes.size()]; break;
        case 1: text.insert(at, 1, bytes[random() % bytes.size()]); break;
        case 2: text.erase(at, 1 + random() % 20); break;
        case 3: text.insert(at, std::string(text, random() % text.size(), random() % 40)); break;
      }
      if (text.empty()) text.push_back('x');
    }
    errors += !error_of([&] { sweep(text); }).empty();
  }
  EXPECT_GT(errors, 300);
  EXPECT_LT(errors, 3000);
}

}  // namespace
}  // namespace erg
