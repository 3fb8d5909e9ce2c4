// Every file in specs/ loads; what each is meant to hold.
#include <gmock/gmock.h>

#include "spec_file.hpp"

namespace erg {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<SweepPoint> file(const std::string& name) { return load_sweep({ERG_SOURCE_DIR "/specs/" + name, {}, {}, {}}); }

TEST(Specs, AllLoad) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ERG_SOURCE_DIR "/specs")) {
    EXPECT_FALSE(load_sweep({entry.path(), {}, {}, {}}).empty()) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 6);
}

TEST(Specs, QuickIsWhatTheFirstCommandPromises) {
  std::vector<int64_t> gpt, resnet;
  double longest = 0;
  for (const SweepPoint& p : file("quick.toml")) {
    const WorkloadSpec& w = p.spec.workload;
    EXPECT_EQ(p.skip_reason, "");
    EXPECT_EQ(w.precision, Precision::automatic);
    EXPECT_NE(w.data, "synthetic");
    longest += p.spec.measure.max_time_s + p.spec.measure.settle_limit();
    if (w.kind == WorkloadKind::gpt) {
      EXPECT_EQ(w.gpt.sequence, 256);
      EXPECT_EQ(w.gpt.layers, 12);
      gpt.push_back(w.global_batch);
    } else {
      EXPECT_EQ(w.resnet, ResNetShape{});
      resnet.push_back(w.global_batch);
    }
  }
  EXPECT_THAT(gpt, ElementsAre(1, 2, 4));
  EXPECT_THAT(resnet, ElementsAre(4, 8, 16));
  EXPECT_LE(longest, 300);  // five minutes of settling and measuring
}

TEST(Specs, OneDeviceSpecsRun) {
  for (const char* name : {"quick.toml", "resnet50-sweep.toml", "gpt-117m.toml"})
    for (const SweepPoint& p : file(name)) EXPECT_EQ(p.skip_reason, "") << name;
}

TEST(Specs, LargeLayoutsWaitForMoreDevices) {
  EXPECT_THAT(file("gpt-13.6b.toml")[0].skip_reason, HasSubstr("one device, not 160, yet"));
  EXPECT_THAT(file("gpt-175b.toml")[0].skip_reason, HasSubstr("one device, not 64, yet"));
}

}  // namespace
}  // namespace erg
