// Opening engines by name: what opens, and what the user is told when one does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "core/error.hpp"
#include "engine/engine.hpp"

namespace erg::test {
namespace {

using testing::HasSubstr;

// ERGOMETER_PLUGINS for one scope.
class PluginFolders {
 public:
  explicit PluginFolders(const std::string& folders) { setenv("ERGOMETER_PLUGINS", folders.c_str(), 1); }
  ~PluginFolders() { unsetenv("ERGOMETER_PLUGINS"); }
};

Error error_of(const std::string& device) {
  try {
    open_engine(device);
  } catch (const Error& e) { return e; }
  ADD_FAILURE() << device << " opened";
  return Error(ErrorKind::failed, "");
}

TEST(OpenEngine, RefIsAlwaysThere) {
  const std::unique_ptr<Engine> engine = open_engine("ref");
  EXPECT_EQ(engine->info().name, "ref");
  EXPECT_EQ(open_engine("ref:0")->info().name, "ref");
  EXPECT_EQ(error_of("ref:1").kind(), ErrorKind::usage);
}

// Tests of the cpu engine skip where it does not open; that it opens where it was built is no matter of luck.
TEST(OpenEngine, CpuOpensWhereItWasBuilt) { EXPECT_EQ(open_engine("cpu")->info().name, "cpu"); }

TEST(OpenEngine, UnknownNameIsAUsageErrorWithTheNearestName) {
  const Error e = error_of("cpuu");
  EXPECT_EQ(e.kind(), ErrorKind::usage);
  EXPECT_THAT(e.what(), HasSubstr("cpuu"));
  EXPECT_THAT(e.fix(), HasSubstr("did you mean cpu?"));
  EXPECT_THAT(error_of("quantum").fix(), HasSubstr("ref, cpu, cuda"));
}

TEST(OpenEngine, BadIndexIsAUsageError) {
  for (const char* device : {"cpu:", "cpu:x", "cpu:-1", "cpu:1x"}) {
    const Error e = error_of(device);
    EXPECT_EQ(e.kind(), ErrorKind::usage) << device;
    EXPECT_THAT(e.fix(), HasSubstr("NAME:INDEX")) << device;
  }
}

TEST(OpenEngine, BackEndWithoutPluginIsUnavailableAndSaysWhereItLooked) {
  const PluginFolders folders("/nowhere/plugins:/elsewhere");
  const Error e = error_of("torch:0");
  EXPECT_EQ(e.kind(), ErrorKind::unavailable);
  EXPECT_EQ(e.exit_code(), 77);
  EXPECT_THAT(e.message(), HasSubstr("engine_torch.so"));
  EXPECT_THAT(e.message(), HasSubstr("/nowhere/plugins"));
  EXPECT_THAT(e.message(), HasSubstr("/elsewhere"));
  EXPECT_FALSE(e.fix().empty());
}

TEST(OpenEngine, PluginThatDoesNotLoadSaysWhy) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "ergometer_broken_plugin";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "engine_broken.so") << "not a library";
  const PluginFolders folders(folder.string());
  const Error e = error_of("broken");
  EXPECT_EQ(e.kind(), ErrorKind::unavailable);
  EXPECT_THAT(e.message(), HasSubstr((folder / "engine_broken.so").string() + " does not load"));
  EXPECT_THAT(e.message(), HasSubstr("file too short"));  // what the loader says of it
  EXPECT_FALSE(e.fix().empty());
  std::filesystem::remove_all(folder);
}

TEST(OpenEngine, PluginOfAnotherInterfaceIsRefused) {
  const PluginFolders folders(ERG_STUB_PLUGINS);
  const Error e = error_of("stub_old");
  EXPECT_EQ(e.kind(), ErrorKind::unavailable);
  EXPECT_THAT(e.message(), HasSubstr("interface 999"));
  EXPECT_THAT(e.fix(), HasSubstr("rebuild"));
}

TEST(OpenEngine, LibraryWithoutTheFunctionsIsRefused) {
  const PluginFolders folders(ERG_STUB_PLUGINS);
  const Error e = error_of("stub_empty");
  EXPECT_EQ(e.kind(), ErrorKind::unavailable);
  EXPECT_THAT(e.message(), HasSubstr("erg_engine_abi"));
}

TEST(OpenEngine, WhatThePluginThrowsComesThrough) {
  const PluginFolders folders(ERG_STUB_PLUGINS);
  const Error e = error_of("stub_nodevice:3");
  EXPECT_EQ(e.kind(), ErrorKind::unavailable);
  EXPECT_EQ(e.message(), "the stub has no device 3");
  EXPECT_EQ(e.fix(), "plug one in");
}

TEST(ListEngines, NamesEveryBackEndAndPluginWithItsReason) {
  const PluginFolders folders(ERG_STUB_PLUGINS);
  const auto engines = list_engines();
  const auto reason_of = [&](const std::string& name) -> std::string {
    for (const auto& [engine, reason] : engines)
      if (engine == name) return reason.empty() ? "opens" : reason;
    return "not listed";
  };
  EXPECT_EQ(engines.front().first, "ref");
  EXPECT_EQ(reason_of("ref"), "opens");
  EXPECT_THAT(reason_of("torch"), HasSubstr("engine_torch.so"));
  EXPECT_THAT(reason_of("stub_old"), HasSubstr("interface 999"));
  EXPECT_THAT(reason_of("stub_nodevice"), HasSubstr("the stub has no device 0"));
}

}  // namespace
}  // namespace erg::test
