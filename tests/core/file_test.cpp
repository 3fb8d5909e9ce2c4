// Reading, atomic writing and the cache folder, in a temporary folder.
#include "core/file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "core/error.hpp"

namespace erg {
namespace fs = std::filesystem;
namespace {

class File : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "erg-file-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(folder_); }
  size_t entries() const { return size_t(std::distance(fs::directory_iterator(folder_), {})); }
  fs::path folder_;
};

TEST_F(File, RoundTripOfAnyBytes) {
  std::string content(300'000, 'x');
  for (size_t i = 0; i < content.size(); ++i) content[i] = char(i * 31);
  write_file_atomically(folder_ / "a", content);
  EXPECT_EQ(read_file(folder_ / "a"), content);
  write_file_atomically(folder_ / "a", "");
  EXPECT_EQ(read_file(folder_ / "a"), "");
  EXPECT_EQ(entries(), 1u);  // nothing is left aside
}

TEST_F(File, ReadsFilesWithoutASize) { EXPECT_FALSE(read_file("/proc/self/status").empty()); }

TEST_F(File, ErrorsNameThePath) {
  try {
    read_file(folder_ / "missing");
    FAIL() << "read a file that is not there";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::usage);
    EXPECT_EQ(e.where(), (folder_ / "missing").string());
  }
  EXPECT_THROW(read_file(folder_), Error);
  try {
    write_file_atomically(folder_ / "no" / "such", "x");
    FAIL() << "wrote into a folder that is not there";
  } catch (const Error& e) { EXPECT_EQ(e.kind(), ErrorKind::failed); }
  fs::create_directory(folder_ / "folder");
  EXPECT_THROW(write_file_atomically(folder_ / "folder", "x"), Error);
  EXPECT_EQ(entries(), 1u);
}

TEST_F(File, KeepsTheUmask) {
  const mode_t old = ::umask(0027);
  write_file_atomically(folder_ / "a", "x");
  ::umask(old);
  struct stat status {};
  ASSERT_EQ(::stat((folder_ / "a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

// A pipe of our own stands for the devices that nobody should try this with.
TEST_F(File, WhatIsNoRegularFileIsWrittenToAndStays) {
  const fs::path pipe = folder_ / "pipe", link = folder_ / "link";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  fs::create_symlink("pipe", link);
  for (const fs::path& target : {pipe, link}) {
    std::string seen;
    std::thread reader([&] { seen = read_file(pipe); });
    write_file_atomically(target, "content");
    EXPECT_TRUE(fs::is_fifo(pipe)) << "it was replaced";
    if (!fs::is_fifo(pipe)) std::exit(1);  // the reader waits for ever
    reader.join();
    EXPECT_EQ(seen, "content");
  }
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(entries(), 2u);
}

TEST_F(File, MoreThanTheMostIsRefused) {
  write_file_atomically(folder_ / "a", std::string(1000, 'x'));
  EXPECT_EQ(read_file(folder_ / "a", 1000).size(), 1000u);
  EXPECT_THROW(read_file(folder_ / "a", 999), Error);
  EXPECT_THROW(read_file("/dev/zero", 1'000'000), Error);
}

TEST_F(File, OfManyCreatorsOneWins) {
  std::atomic<int> winners = 0;
  std::vector<std::thread> creators;
  for (int c = 0; c < 8; ++c)
    creators.emplace_back([&, c] {
      if (create_file_atomically(folder_ / "claim", std::to_string(c))) ++winners;
    });
  for (auto& c : creators) c.join();
  EXPECT_EQ(winners, 1);
  const std::string content = read_file(folder_ / "claim");
  EXPECT_FALSE(create_file_atomically(folder_ / "claim", "late"));
  EXPECT_EQ(read_file(folder_ / "claim"), content);
  EXPECT_EQ(entries(), 1u);
  EXPECT_THROW(create_file_atomically(folder_ / "no" / "such", "x"), Error);
}

TEST_F(File, ReadersNeverSeeHalfAFile) {
  const std::string a(100'000, 'a'), b(100'000, 'b');
  write_file_atomically(folder_ / "f", a);
  std::vector<std::thread> writers;
  for (int w = 0; w < 2; ++w)
    writers.emplace_back([&] {
      for (int i = 0; i < 20; ++i) write_file_atomically(folder_ / "f", i % 2 ? a : b);
    });
  for (int i = 0; i < 100; ++i) {
    const std::string seen = read_file(folder_ / "f");
    EXPECT_TRUE(seen == a || seen == b);
  }
  for (std::thread& w : writers) w.join();
  EXPECT_EQ(entries(), 1u);
}

TEST_F(File, ExecutableFolder) { EXPECT_EQ(executable_folder(), fs::canonical("/proc/self/exe").parent_path()); }

}  // namespace
}  // namespace erg
