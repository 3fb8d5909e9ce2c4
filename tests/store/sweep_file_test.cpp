// A stored sweep is read back as it was, and what is broken is said.
#include "store/sweep_file.hpp"

#include <gmock/gmock.h>

#include "core/error.hpp"
#include "sample_records.hpp"

namespace erg {
namespace {

using test::TemporaryFolder;

StoredSweep sample(const std::string& id) {
  return {id, "2026-01-01T00:00:00Z", "srun -n 1",
          load_sweep(
              {"gpt-tiny", {"micro_batch=2", "measure.repeat=2", "name=a \"quoted\" näme"}, {"global_batch=2,3"}, {"who=me", "a.b=c d"}})};
}

TEST(SweepFile, SurvivesTheWay) {
  TemporaryFolder folder;
  const StoredSweep sweep = sample("20260101T000000.000Z-h-000001");
  ASSERT_EQ(sweep.points.size(), 3u);  // a point that is skipped is not repeated
  save_sweep(folder.path(), sweep);
  const StoredSweep back = load_sweep_file(folder.path(), "last");
  EXPECT_EQ(to_json(back), to_json(sweep));
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(back.points[i].spec, sweep.points[i].spec);
    EXPECT_EQ(back.points[i].coordinates, sweep.points[i].coordinates);
    EXPECT_EQ(back.points[i].skip_reason, sweep.points[i].skip_reason);
  }
}

TEST(SweepFile, RecordIdsSortAsThePointsDo) {
  StoredSweep sweep = sample("s");
  EXPECT_EQ(sweep.record_id(0, 1), "s-0001");
  EXPECT_EQ(sweep.record_id(2, 3), "s-0003.3");
  sweep.points.resize(12'000);
  EXPECT_LT(sweep.record_id(1998, 1), sweep.record_id(11'999, 1));
}

TEST(SweepFile, IsFoundLikeARunAndNotTakenForOne) {
  TemporaryFolder folder;
  EXPECT_THROW(load_sweep_file(folder.path(), "last"), Error);
  for (const char* id : {"2026-a-111", "2026-b-222"}) save_sweep(folder.path(), sample(id));
  EXPECT_EQ(load_sweep_file(folder.path(), "last").id, "2026-b-222");
  EXPECT_EQ(load_sweep_file(folder.path(), "111").id, "2026-a-111");
  EXPECT_THROW(load_sweep_file(folder.path(), "2026"), Error);
  EXPECT_THROW(load_sweep_file(folder.path(), "333"), Error);
}

TEST(SweepFile, ASpecThatMeansSomethingElseNowIsRefused) {
  Json json = to_json(sample("s"));
  json["points"][0]["spec_hash"] = "0123456789abcdef";
  EXPECT_THROW(sweep_from_json(json, "file"), Error);
}

}  // namespace
}  // namespace erg
