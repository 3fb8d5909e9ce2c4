// What the CPU engine remembers of its choices: the file, whatever it holds and wherever it cannot be. Which choice wins is the machine's
// affair and stands in no test.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "engines.hpp"

namespace erg::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Tuner : public testing::Test {
 protected:
  Tuner() : folder(fs::temp_directory_path() / ("tuner_test_" + std::to_string(::getpid()) + "_" + test_name())) {
    fs::create_directories(folder);
    ::unsetenv("ERGOMETER_TUNE");
    ::setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  }
  ~Tuner() override {
    ::setenv("ERGOMETER_TUNE", "first", 1);
    ::unsetenv("XDG_CACHE_HOME");
    fs::remove_all(folder);
  }
  static std::string test_name() { return testing::UnitTest::GetInstance()->current_test_info()->name(); }

  // Two forms of one convolution of 0.1 GFLOP: both are worth measuring, and what follows them does not make them different.
  void make_convolutions() {
    const auto engine = open_engine("cpu", {.device_index = 0, .threads = 1});
    ConvBnDesc d{1, 64, 56, 56, 256, 1, 1, 0};
    (void)engine->conv_bn(d);
    d.residual = true;
    (void)engine->conv_bn(d);
  }
  // The file of choices, of which there is one at most.
  fs::path file() const {
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.path().extension() == ".tsv") return entry.path();
    return {};
  }
  static std::string text(const fs::path& path) {
    std::ostringstream all;
    all << std::ifstream(path).rdbuf();
    return all.str();
  }

  const fs::path folder;
};

TEST_F(Tuner, KeepsALineForEveryPassOfAShape) {
  ERG_OPEN_OR_SKIP(engine, "cpu");
  make_convolutions();
  if (file().empty()) GTEST_SKIP() << "oneDNN has one implementation of each pass here";
  std::istringstream lines(text(file()));
  std::set<std::string> passes;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_THAT(line, StartsWith("conv 1x1 64->256 @56 b1 fp32 bn, "));
    EXPECT_TRUE(passes.insert(line.substr(0, line.find('\t'))).second) << line;
    EXPECT_GT(line.size(), line.find('\t') + 1) << line;
  }
  EXPECT_GE(passes.size(), 1u);
  EXPECT_LE(passes.size(), 3u);
}

TEST_F(Tuner, BelievesItsFileWhereTheNameIsKnownAndNowhereElse) {
  ERG_OPEN_OR_SKIP(engine, "cpu");
  make_convolutions();
  const fs::path found = file();
  if (found.empty()) GTEST_SKIP() << "oneDNN has one implementation of each pass here";
  const fs::path other = folder / "other";  // a folder that this process has not read yet
  fs::create_directories(other / "ergometer");
  const std::string what = text(found).substr(0, text(found).find('\t') + 1);
  std::ofstream(other / "ergometer" / found.filename()) << "no tab\n\t\n\xff\xfe\t\n" << what << "a kernel of another version\n";
  ::setenv("XDG_CACHE_HOME", other.c_str(), 1);
  make_convolutions();
  const std::string mended = text(other / "ergometer" / found.filename());
  EXPECT_THAT(mended, HasSubstr(what));
  EXPECT_THAT(mended, Not(HasSubstr("a kernel of another version")));

  // All known: nothing is measured, so nothing written.
  const fs::path again = folder / "again";
  fs::create_directories(again / "ergometer");
  std::ofstream(again / "ergometer" / found.filename()) << mended << "# kept as it is\n";
  ::setenv("XDG_CACHE_HOME", again.c_str(), 1);
  make_convolutions();
  EXPECT_THAT(text(again / "ergometer" / found.filename()), HasSubstr("# kept as it is"));
}

TEST_F(Tuner, NeedsNoFolderThatCanBeWritten) {
  ERG_OPEN_OR_SKIP(engine, "cpu");
  const fs::path in_the_way = folder / "file";
  std::ofstream(in_the_way) << "not a folder\n";
  ::setenv("XDG_CACHE_HOME", in_the_way.c_str(), 1);
  EXPECT_NO_THROW(make_convolutions());
  EXPECT_EQ(text(in_the_way), "not a folder\n");
}

TEST_F(Tuner, MeasuresNothingWhereTheFirstIsAskedFor) {
  ERG_OPEN_OR_SKIP(engine, "cpu");
  ::setenv("ERGOMETER_TUNE", "first", 1);
  make_convolutions();
  EXPECT_TRUE(file().empty());
}

}  // namespace
}  // namespace erg::test
