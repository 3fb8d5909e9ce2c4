// to_toml and load_spec are inverses: for every preset, and for specs drawn at random from the table of keys.
#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "core/file.hpp"
#include "spec/keys.hpp"
#include "spec_file.hpp"

namespace erg {
namespace {

TEST(RoundTrip, Presets) {
  for (const std::string& name : preset_names()) {
    const Spec s = load_spec({name, {}, {}, {"a key=\"quoted\"\n\t\\ and größer"}});
    EXPECT_EQ(load(to_toml(s)), s) << to_toml(s);
  }
}

// Values that are valid together, by key: every key that can differ in a runnable spec of that kind.
std::string random_spec(std::mt19937& random, bool gpt) {
  const auto pick = [&](std::vector<std::string> values) { return values[random() % values.size()]; };
  const auto real = [&](double low, double high) { return std::to_string(std::uniform_real_distribution<double>(low, high)(random)); };
  std::map<std::string, std::string> common = {{"name", pick({"'x'", "''", "\"tab\\t quote\\\" \\u00e9\""})},
                                               {"device", pick({"'cpu'", "'ref'", "'cuda:1'"})},
                                               {"repeat_index", pick({"0", "7"})},
                                               {"workload.precision", pick({"'auto'", "'bf16'"})},
                                               {"workload.gradients", pick({"'fp32'", "'bf16'"})},
                                               {"workload.global_batch", pick({"4", "8", "4194304"})},
                                               {"workload.micro_batch", pick({"0", "1", "2", "4"})},
                                               {"workload.data", pick({"'synthetic'", "'some/folder'"})},
                                               {"workload.workers", pick({"0", "3"})},
                                               {"workload.validation_steps", pick({"0", "9"})},
                                               {"workload.seed", pick({"0", "9223372036854775807"})},
                                               {"workload.learning_rate", real(1e-6, 1)},
                                               {"workload.weight_decay", pick({"0", "1e-300", "0.1"})},
                                               {"workload.warmup_steps", pick({"0", "10"})},
                                               {"workload.total_steps", pick({"0", "10", "1000000000"})},
                                               {"measure.max_time_s", real(1, 100)},
                                               {"measure.settle_max_s", real(0, 9)},
                                               {"measure.warmup_min_s", real(0, 9)},
                                               {"measure.min_time_s", real(0, 9)},
                                               {"measure.duration_s", pick({"0", "3600"})},
                                               {"measure.repeat", pick({"1", "3"})},
                                               {"measure.check", pick({"true", "false"})},
                                               {"energy.methods", pick({"['auto']", "['rapl', 'nvml']"})},
                                               {"energy.interval_ms", real(1, 1000)}};
  const std::map<std::string, std::string> of_gpt = {{"workload.preset", pick({"'gpt-tiny'", "'gpt-117m'"})},
                                                     {"workload.kind", "'gpt'"},
                                                     {"workload.layers", pick({"1", "3"})},
                                                     {"workload.hidden", pick({"48", "96"})},
                                                     {"workload.heads", pick({"1", "4", "12"})},
                                                     {"workload.ffn", pick({"100", "384"})},
                                                     {"workload.vocabulary", pick({"2", "129", "16777216"})},
                                                     {"workload.sequence", pick({"1", "77"})},
                                                     {"workload.positions", pick({"'learned'", "'rope'"})},
                                                     {"workload.beta1", real(0, 0.99)},
                                                     {"workload.beta2", real(0, 0.99)},
                                                     {"workload.epsilon", real(1e-5, 0.1)},
                                                     {"workload.clip", real(0, 9)},
                                                     {"layout.zero", pick({"0", "1"})}};
  const std::map<std::string, std::string> of_resnet = {{"workload.preset", pick({"'resnet50'", "'resnet-tiny'"})},
                                                        {"workload.kind", "'resnet50'"},
                                                        {"workload.image_size", pick({"8", "65"})},
                                                        {"workload.classes", pick({"2", "1000"})},
                                                        {"workload.width", pick({"1", "64"})},
                                                        {"workload.blocks", pick({"[1, 1, 1, 1]", "[2, 3, 4, 1]"})},
                                                        {"workload.momentum", real(0, 0.99)},
                                                        {"workload.label_smoothing", real(0, 0.99)}};
  std::string text = "workload.preset = " + (gpt ? of_gpt : of_resnet).at("workload.preset") + "\n";
  common.insert(gpt ? of_gpt.begin() : of_resnet.begin(), gpt ? of_gpt.end() : of_resnet.end());
  for (const auto& [key, value] : common)
    if (key != "workload.preset" && random() % 2) text += key + " = " + value + "\n";
  return text;
}

TEST(RoundTrip, RandomSpecs) {
  std::mt19937 random(11);
  int valid = 0;
  for (int i = 0; i < 600; ++i) {
    const std::string text = random_spec(random, i % 2);
    std::optional<Spec> first;
    try {
      first = load(text);
    } catch (const Error& e) {  // 12 heads over 48 with rope and the like: only contradictions are allowed here
      EXPECT_TRUE(e.message().find("divisible") != std::string::npos || e.message().find("even head size") != std::string::npos)
          << text << e.what();
      continue;
    }
    ++valid;
    const std::string canonical = to_toml(*first);
    const Spec second = load(canonical);
    ASSERT_EQ(second, *first) << text << canonical;
    ASSERT_EQ(to_toml(second), canonical);
    ASSERT_EQ(spec_hash(second), spec_hash(*first));
  }
  EXPECT_GT(valid, 300);
}

TEST(Hash, ChangesWithTheWorkButNotWithLabelsOrRepeats) {
  const Spec s = load("workload.preset = 'gpt-tiny'");
  EXPECT_EQ(spec_hash(s).size(), 16u);
  Spec other = s;
  other.labels = {{"k", "v"}};
  other.repeat_index = 2;
  EXPECT_EQ(spec_hash(other), spec_hash(s));
  std::set<std::string> hashes = {spec_hash(s)};
  for (const char* set : {"layers=3", "global_batch=2", "precision=fp32", "seed=2", "max_time_s=3", "device=ref", "learning_rate=0.5"})
    hashes.insert(spec_hash(load("workload.preset = 'gpt-tiny'", {set})));
  EXPECT_EQ(hashes.size(), 8u);
}

TEST(Hash, IsFnv1a) {  // of the canonical text, by the definition at isthe.com/chongo/tech/comp/fnv
  const Spec s = load("workload.preset = 'resnet-tiny'");
  uint64_t h = 14695981039346656037u;
  for (const unsigned char c : to_toml(s)) {
    h ^= c;
    h *= 1099511628211u;
  }
  char expected[17];
  std::snprintf(expected, sizeof expected, "%016lx", static_cast<unsigned long>(h));
  EXPECT_EQ(spec_hash(s), expected);
}

TEST(Json, HasTheSameValues) {
  const auto json = nlohmann::json::parse(to_json(load("name = 'é'\nworkload.preset = 'resnet-tiny'\nworkload.seed = 5\nlabels.k = 'v'")));
  EXPECT_EQ(json["name"], "é");
  EXPECT_EQ(json["devices"], 1);
  EXPECT_EQ(json["workload"]["seed"], 5);
  EXPECT_EQ(json["workload"]["blocks"], nlohmann::json({1, 1, 1, 1}));
  EXPECT_EQ(json["workload"]["momentum"], 0.9);
  EXPECT_EQ(json["measure"]["check"], true);
  EXPECT_EQ(json["labels"]["k"], "v");
  EXPECT_FALSE(json["workload"].contains("layers"));  // ResNet has none
}

TEST(Keys, BareNamesAreUnique) {
  std::set<std::string> leaves;
  for (const Key& k : spec_keys()) EXPECT_TRUE(leaves.insert(k.leaf()).second) << k.name;
}

TEST(Keys, EveryDefaultIsAValueItsKeyTakes) {
  for (const std::string& preset : preset_names()) {
    Spec s = load_spec({preset, {}, {}, {}});
    for (const Key& k : spec_keys()) {
      const auto value = k.get(s);
      EXPECT_TRUE(!value || !k.used_by(s.workload.kind) || k.set(s, *value)) << k.name;
    }
  }
}

TEST(Keys, AreDocumented) { EXPECT_THAT(read_file(ERG_SOURCE_DIR "/docs/spec.md"), ::testing::EndsWith("\n\n" + keys_markdown())); }

}  // namespace
}  // namespace erg
