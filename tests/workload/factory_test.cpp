// From a spec to a workload: which data it takes, and what it refuses with which fix.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/error.hpp"
#include "support.hpp"

namespace erg::test {
namespace {

using ::testing::HasSubstr;

// The error that making the workload ends in.
Error error_of(const Spec& spec) {
  const auto engine = open_ref_engine({});
  try {
    make_workload(spec, make_plan(spec, false), *engine);
  } catch (const Error& e) { return e; }
  throw std::runtime_error("no error");
}

class Factory : public ::testing::Test {
 protected:
  Factory() { std::filesystem::create_directories(folder); }
  ~Factory() override { std::filesystem::remove_all(folder); }
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("ergometer-factory-" + std::to_string(getpid()));
};

TEST_F(Factory, AMissingFolderIsAUsageErrorThatNamesIt) {
  for (Spec spec : {tiny_gpt(), tiny_resnet()}) {
    spec.workload.data = (folder / "absent").string();
    const Error error = error_of(spec);
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), HasSubstr("absent"));
  }
}

TEST_F(Factory, MoreClassesThanTheSpecHasIsAUsageErrorWithTheFix) {
  for (int c = 0; c < 11; ++c) {
    std::filesystem::create_directories(folder / ("class" + std::to_string(c)));
    std::ofstream(folder / ("class" + std::to_string(c)) / "0.jpg") << "not read";
  }
  Spec spec = tiny_resnet();
  spec.workload.data = folder.string();
  const Error error = error_of(spec);
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_THAT(error.what(), HasSubstr("11 classes"));
  EXPECT_THAT(error.fix(), HasSubstr("workload.classes=11"));
}

TEST_F(Factory, ExternalWorkloadsAreNotTrainedHere) {
  const auto engine = open_ref_engine({});
  const Plan plan = make_plan(tiny_gpt(), false);
  Spec spec = tiny_gpt();
  spec.workload.kind = WorkloadKind::external;
  EXPECT_THROW(make_workload(spec, plan, *engine), Error);
}

}  // namespace
}  // namespace erg::test
