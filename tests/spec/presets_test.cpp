// Presets have the shapes they are named for. Parameter counts by Narayanan et al. 2021, equation 2 (with learned positions):
// 12 L h^2 (1 + 13/(12h) + (V + s)/(12 L h)), plus the last norm.
#include "spec_file.hpp"

namespace erg {
namespace {

GptShape shape(const std::string& preset) { return load_spec({preset, {}, {}, {}}).workload.gpt; }

double parameters(const GptShape& g, int64_t vocabulary) {
  const double h = double(g.hidden), l = double(g.layers);
  return 12 * l * h * h * (1 + 13 / (12 * h) + double(vocabulary + g.sequence) / (12 * l * h)) + 2 * h;
}

TEST(Presets, AllLoad) {
  for (const std::string& name : preset_names()) EXPECT_EQ(load_spec({name, {}, {}, {}}).workload.preset, name);
}

TEST(Presets, ParameterCounts) {
  EXPECT_EQ(parameters(shape("gpt-117m"), 50257), 124'439'808);         // GPT-2, with its 1024 positions
  EXPECT_NEAR(parameters(shape("gpt-800m"), 50304), 0.909e9, 0.005e9);  // CARAML's, derived there
  EXPECT_NEAR(parameters(shape("gpt-13b"), 50304), 12.84e9, 0.02e9);
  EXPECT_NEAR(parameters(shape("gpt-13.6b"), 50304), 13.6e9, 0.136e9);  // within 1 %: the shape is assumed
  EXPECT_NEAR(parameters(shape("gpt-175b"), 50304), 174.6e9, 0.1e9);
}

TEST(Presets, Shapes) {
  const GptShape small = shape("gpt-117m"), middle = shape("gpt-800m"), large = shape("gpt-13b"), largest = shape("gpt-175b");
  EXPECT_EQ(small.heads, 12);
  EXPECT_EQ(small.sequence, 1024);
  EXPECT_EQ(small.padded_vocabulary, 50304);
  EXPECT_EQ(middle.heads, 16);
  EXPECT_EQ(middle.sequence, 2048);
  EXPECT_EQ(large.heads, 32);
  EXPECT_EQ(largest.heads, 96);
  EXPECT_EQ(largest.ffn, 4 * 12288);
  EXPECT_EQ(load_spec({"resnet50", {}, {}, {}}).workload.resnet, ResNetShape{});
}

}  // namespace
}  // namespace erg
