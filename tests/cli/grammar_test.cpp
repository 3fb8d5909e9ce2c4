// The sweep grammar as flags, and what is refused.
#include <gmock/gmock.h>

#include "program.hpp"

namespace erg {
namespace {

using namespace test;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(SweepFlags, ZipExcludeAndComputeShapeThePoints) {
  const ChildResult r =
      Program()({"sweep", "gpt-tiny", "--dry-run", "--axis", "global_batch=4-16*2", "--axis", "micro_batch=1,2,4", "--zip",
                 "global_batch,micro_batch", "--exclude", "global_batch > 8", "--compute", "layers=global_batch / 8"});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, AllOf(HasSubstr("workload.global_batch=8, workload.micro_batch=2"), Not(HasSubstr("global_batch=16")),
                           HasSubstr("SKIPPED: workload.layers = global_batch / 8: 4 / 8 leaves a remainder")));
}

TEST(SweepFlags, WhatDoesNothingIsAUsageError) {
  const ChildResult r = Program()({"sweep", "gpt-tiny", "--dry-run", "--axis", "global_batch=1,2", "--exclude", "global_batch == 3"});
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_EQ(r.out, "");
  EXPECT_THAT(r.err, HasSubstr("--exclude global_batch == 3: this excludes no point"));
}

}  // namespace
}  // namespace erg
