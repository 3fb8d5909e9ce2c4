// Files and flags to a Spec: what is read, what follows from it, and every kind of error with its place.
#include <gmock/gmock.h>

#include "spec_file.hpp"

namespace erg {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(LoadSpec, EveryTableOfAFile) {
  const Spec s = load(R"(
name = "mine"
device = "ref:0"
[workload]
preset = "gpt-117m"
precision = "bf16"
gradients = "bf16"
global_batch = 64
micro_batch = 4
sequence = 512
positions = "rope"
[layout]
zero = 1
[measure]
max_time_s = 12
settle_max_s = 3.5
check = false
[energy]
methods = ["rapl", "nvml"]
interval_ms = 20
[labels]
host = "a b"
)");
  EXPECT_EQ(s.name, "mine");
  EXPECT_EQ(s.device, "ref:0");
  EXPECT_EQ(s.workload.preset, "gpt-117m");
  EXPECT_EQ(s.workload.kind, WorkloadKind::gpt);
  EXPECT_EQ(s.workload.precision, Precision::bf16);
  EXPECT_EQ(s.workload.gradients, DType::bf16);
  EXPECT_EQ(s.workload.global_batch, 64);
  EXPECT_EQ(s.workload.micro_batch, 4);
  EXPECT_EQ(s.workload.gpt.sequence, 512);
  EXPECT_EQ(s.workload.gpt.layers, 12);
  EXPECT_EQ(s.workload.gpt.positions, Positions::rope);
  EXPECT_EQ(s.layout.zero, 1);
  EXPECT_EQ(s.measure.max_time_s, 12);
  EXPECT_EQ(s.measure.settle_max_s, 3.5);
  EXPECT_FALSE(s.measure.check);
  EXPECT_EQ(s.energy.methods, (std::vector<std::string>{"rapl", "nvml"}));
  EXPECT_EQ(s.energy.interval_ms, 20);
  EXPECT_EQ(s.labels, (std::vector<std::pair<std::string, std::string>>{{"host", "a b"}}));
}

TEST(LoadSpec, APresetNeedsNoFile) {
  const Spec s = load_spec({"resnet50", {"workload.global_batch=8"}, {}, {"k=v=w"}});
  EXPECT_EQ(s.name, "resnet50");
  EXPECT_EQ(s.workload.kind, WorkloadKind::resnet50);
  EXPECT_EQ(s.workload.global_batch, 8);
  EXPECT_EQ(s.labels, (std::vector<std::pair<std::string, std::string>>{{"k", "v=w"}}));
}

TEST(LoadSpec, NameDefaultsToTheFile) { EXPECT_EQ(load("workload.preset = 'gpt-tiny'").name, "spec"); }

TEST(LoadSpec, FlagsWinAndNeedNoQuotes) {
  const std::string text = "[workload]\npreset = 'gpt-117m'\nprecision = 'bf16'\nglobal_batch = 2";
  const Spec s = load(text, {"workload.precision=fp32", "global_batch=4", "name=7", "data=a/b", "energy.methods=none", "workload.seed=3",
                             "measure.settle_max_s=0.5", "workload.seed=4"});
  EXPECT_EQ(s.workload.precision, Precision::fp32);
  EXPECT_EQ(s.workload.global_batch, 4);
  EXPECT_EQ(s.name, "7");
  EXPECT_EQ(s.workload.data, "a/b");
  EXPECT_EQ(s.energy.methods, (std::vector<std::string>{"none"}));
  EXPECT_EQ(s.workload.seed, 4u);  // the last one
  EXPECT_EQ(s.measure.settle_max_s, 0.5);
  EXPECT_EQ(load(text, {"workload.data=\"quoted\""}).workload.data, "quoted");
  EXPECT_EQ(load("workload.preset='resnet50'", {"workload.blocks=[1, 2, 2, 1]"}).workload.resnet.blocks,
            (std::vector<int64_t>{1, 2, 2, 1}));
}

TEST(LoadSpec, WhatFollows) {
  EXPECT_EQ(load("workload.preset='gpt-117m'").workload.gpt.ffn, 3072);
  EXPECT_EQ(load("workload.preset='gpt-117m'", {"hidden=1536"}).workload.gpt.ffn, 6144);
  EXPECT_EQ(load("workload.preset='gpt-117m'", {"hidden=1536", "ffn=100"}).workload.gpt.ffn, 100);
  EXPECT_EQ(load("workload.preset='gpt-117m'").workload.gpt.padded_vocabulary, 50304);
  EXPECT_EQ(load("workload.preset='gpt-117m'", {"vocabulary=8000"}).workload.gpt.padded_vocabulary, 8064);
  EXPECT_EQ(load("workload.preset='gpt-117m'", {"vocabulary=256"}).workload.gpt.padded_vocabulary, 256);
  // Goyal's linear rule, unless a rate is given.
  EXPECT_DOUBLE_EQ(load("workload.preset='resnet50'", {"global_batch=16"}).workload.optimizer.learning_rate, 0.016);
  EXPECT_DOUBLE_EQ(load("workload.preset='resnet50'", {"global_batch=2048"}).workload.optimizer.learning_rate, 0.032);
  EXPECT_DOUBLE_EQ(load("workload.preset='resnet50'", {"global_batch=8"}).workload.optimizer.learning_rate, 0.008);
  EXPECT_DOUBLE_EQ(load("workload.preset='resnet50'", {"global_batch=8", "learning_rate=0.1"}).workload.optimizer.learning_rate, 0.1);
  EXPECT_EQ(load("measure.max_time_s = 30\nworkload.preset='resnet50'").measure.settle_limit(), 15);
}

TEST(LoadSpec, OptimizerDefaultsByKind) {
  const OptimizerSpec gpt = load("workload.kind='gpt'").workload.optimizer;
  EXPECT_EQ(gpt.learning_rate, 6e-4);
  EXPECT_EQ(gpt.beta1, 0.9);
  EXPECT_EQ(gpt.beta2, 0.95);
  EXPECT_EQ(gpt.epsilon, 1e-8);
  EXPECT_EQ(gpt.weight_decay, 0.1);
  EXPECT_EQ(gpt.clip, 1);
  EXPECT_GT(gpt.warmup_steps, 0);
  const OptimizerSpec resnet = load("workload.kind='resnet50'").workload.optimizer;
  EXPECT_EQ(resnet.momentum, 0.9);
  EXPECT_EQ(resnet.weight_decay, 5e-5);
  EXPECT_EQ(resnet.label_smoothing, 0.1);
  EXPECT_EQ(resnet.clip, 0);
  EXPECT_GT(resnet.warmup_steps, 0);
}

TEST(LoadSpec, ByteOrderMarkAndCarriageReturns) {
  EXPECT_EQ(load("\xef\xbb\xbfname = 'x'\r\n[workload]\r\npreset = 'gpt-tiny'\r\n").name, "x");
}

struct Case {
  const char *text, *error;
};

class SpecErrors : public ::testing::TestWithParam<Case> {};

TEST_P(SpecErrors, SayPlaceKeyAndCure) { EXPECT_EQ(load_error(GetParam().text), GetParam().error); }

INSTANTIATE_TEST_SUITE_P(
    , SpecErrors,
    ::testing::Values(
        // unknown names
        Case{"[workload]\npreset = 'gpt-tiny'\nglobal_bach = 4",
             "spec.toml:3:1: unknown key workload.global_bach\n  fix: did you mean workload.global_batch?"},
        Case{"[workload]\npreset = 'gpt-tiny'\n  max_time_s = 4",
             "spec.toml:3:3: unknown key workload.max_time_s\n  fix: did you mean measure.max_time_s?"},
        Case{"workload.preset = 'gpt-tiny'\nworkload.sequnece = 4",
             "spec.toml:2:10: unknown key workload.sequnece\n  fix: did you mean workload.sequence?"},
        Case{"[workload]\npreset = 'gpt-tiny'\n[layout]\ntemperature = 4",
             "spec.toml:4:1: unknown key layout.temperature\n  fix: the keys are tp, pp, zero, interleave, sequence_parallel, recompute"},
        Case{"global_batch = 4\nworkload.preset = 'gpt-tiny'",
             "spec.toml:1:1: global_batch is not a key of the top level\n  fix: write it as workload.global_batch"},
        Case{"[wrkload]\npreset = 'gpt-tiny'", "spec.toml:1:2: unknown table wrkload\n  fix: did you mean workload?"},
        Case{"[nothing]\nx = 1",
             "spec.toml:1:2: unknown table nothing\n  fix: the tables are workload, layout, measure, energy, axes, compute, labels, sweep"},
        Case{"[workload]\npreset = 'gpt-118m'",
             "spec.toml:2:1: workload.preset = \"gpt-118m\" is not possible: it takes one of resnet50, resnet-tiny, gpt-tiny, gpt-117m, "
             "gpt-800m, "
             "gpt-13b, gpt-13.6b, gpt-175b\n  fix: did you mean gpt-117m?"},
        Case{"[workload]\npreset = 'gpt-tiny'\nprecision = 'bf61'",
             "spec.toml:3:1: workload.precision = \"bf61\" is not possible: it takes one of auto, fp32, tf32, bf16, fp16\n  fix: did you "
             "mean bf16?"},
        // types and ranges
        Case{"[workload]\npreset = 'gpt-tiny'\nglobal_batch = '4'",
             "spec.toml:3:1: workload.global_batch = \"4\" is not possible: it takes an integer from 1 to 4194304"},
        Case{"[workload]\npreset = 'gpt-tiny'\nglobal_batch = 4.0",
             "spec.toml:3:1: workload.global_batch = 4.0 is not possible: it takes an integer from 1 to 4194304"},
        Case{"[workload]\npreset = 'gpt-tiny'\nglobal_batch = 0",
             "spec.toml:3:1: workload.global_batch = 0 is not possible: it takes an integer from 1 to 4194304"},
        Case{"[workload]\npreset = 'gpt-tiny'\nseed = -1", "spec.toml:3:1: workload.seed = -1 is not possible: it takes an integer from 0"},
        Case{"[workload]\npreset = 'gpt-tiny'\nlearning_rate = nan",
             "spec.toml:3:1: workload.learning_rate = nan is not possible: it takes a number above 0 to 100"},
        Case{"[workload]\npreset = 'gpt-tiny'\nbeta1 = 1",
             "spec.toml:3:1: workload.beta1 = 1 is not possible: it takes a number from 0 to below 1"},
        Case{"workload.preset = 'gpt-tiny'\n[measure]\nmax_time_s = inf",
             "spec.toml:3:1: measure.max_time_s = inf is not possible: it takes a number above 0 to 10000000"},
        Case{"workload.preset = 'gpt-tiny'\n[measure]\ncheck = 'yes'",
             "spec.toml:3:1: measure.check = \"yes\" is not possible: it takes true or false"},
        Case{"workload.preset = 'gpt-tiny'\nname = 2026-12-01", "spec.toml:2:1: name = a date or time is not possible: it takes a string"},
        Case{"workload.preset = 'gpt-tiny'\ndevice = 'cpu:x'",
             "spec.toml:2:1: device = \"cpu:x\" is not possible: it takes an engine and perhaps its index, such as cpu or cuda:1"},
        Case{"workload.preset = 'resnet50'\nworkload.blocks = [3, 4.0]",
             "spec.toml:2:10: workload.blocks = [3, 4.0] is not possible: it takes a list of integers from 1 to 1000"},
        Case{"workload = 3", "spec.toml:1:1: workload is a table, not a value\n  fix: write [workload]"},
        Case{"workload.preset = 'gpt-tiny'\nlabels.x = 3", "spec.toml:2:8: label x takes a string\n  fix: put it in quotes"},
        // unused keys
        Case{"[workload]\npreset = 'resnet50'\nlayers = 12",
             "spec.toml:3:1: unused key workload.layers: a resnet50 workload has no use for it\n  fix: remove it"},
        Case{"[workload]\npreset = 'gpt-tiny'\nmomentum = 0.9",
             "spec.toml:3:1: unused key workload.momentum: a gpt workload has no use for it\n  fix: remove it"},
        Case{"[workload]\npreset = 'resnet50'\n[layout]\ntp = 1",
             "spec.toml:4:1: unused key layout.tp: a resnet50 workload has no use for it\n  fix: remove it"},
        Case{"[workload]\nkind = 'external'\nheads = 4",
             "spec.toml:3:1: unused key workload.heads: a external workload has no use for it\n  fix: remove it"},
        // contradictions, at the key at fault
        Case{"[workload]\npreset = 'gpt-tiny'\nkind = 'resnet50'",
             "spec.toml:3:1: preset gpt-tiny is of kind gpt, not resnet50\n  fix: remove workload.kind"},
        Case{"[workload]\npreset = 'gpt-tiny'\nglobal_batch = 6\nmicro_batch = 4",
             "spec.toml:3:1: global batch 6 is not divisible by data-parallel size 1 x micro-batch 4"},
        Case{"[workload]\npreset = 'gpt-tiny'\nheads = 5", "spec.toml:3:1: hidden 64 is not divisible by 5 heads"},
        Case{"name = 'x'", "spec.toml: there is no workload\n  fix: set workload.preset or workload.kind"},
        Case{"", "spec.toml: there is no workload\n  fix: set workload.preset or workload.kind"},
        // sweeps
        Case{"workload.preset = 'gpt-tiny'\naxes.global_batch = [1, 2]",
             "spec.toml: this describes a sweep, not one run\n  fix: ergometer sweep spec.toml"}));

TEST(LoadSpec, TomlErrorsHaveTheirPlace) {
  EXPECT_THAT(load_error("a = 1\nb = = 2"), StartsWith("spec.toml:2:5: "));
  EXPECT_THAT(load_error("name = 'a'\nname = 'b'"), HasSubstr("spec.toml:2:"));
  EXPECT_THAT(load_error("[workload]\n[workload]"), HasSubstr("spec.toml:2:"));
  EXPECT_THAT(load_error("workload.seed = 99999999999999999999"), StartsWith("spec.toml:1:"));
  EXPECT_THAT(load_error("name = \"\xff\xfe\""), StartsWith("spec.toml:1:"));
  EXPECT_THAT(load_error("name = 'unterminated"), StartsWith("spec.toml:1:"));
}

TEST(LoadSpec, FlagErrorsNameTheFlag) {
  const std::string text = "workload.preset = 'gpt-tiny'";
  EXPECT_EQ(
      load_error(text, {"workload.foo=1"}),
      "--set workload.foo=1: unknown key workload.foo\n  fix: the keys are preset, kind, precision, gradients, "
      "global_batch, micro_batch, data, workers, validation_steps, seed, layers, hidden, heads, ffn, vocabulary, sequence, positions, "
      "image_size, classes, width, blocks, learning_rate, weight_decay, momentum, beta1, beta2, epsilon, clip, label_smoothing, "
      "warmup_steps, total_steps");
  EXPECT_EQ(load_error(text, {"globalbatch=1"}),
            "--set globalbatch=1: unknown key globalbatch\n  fix: did you mean workload.global_batch?");
  EXPECT_EQ(load_error(text, {"workload.layers=x"}),
            "--set workload.layers=x: workload.layers = \"x\" is not possible: it takes an integer from 1 to 10000");
  EXPECT_EQ(load_error(text, {"workload.width=16"}),
            "--set workload.width=16: unused key workload.width: a gpt workload has no use for it\n  fix: remove it");
  EXPECT_EQ(load_error(text, {"workload.layers"}), "--set workload.layers: there is no key=value\n  fix: write --set KEY=VALUE");
  EXPECT_EQ(load_error(text, {"workload.heads=3"}), "--set workload.heads=3: hidden 64 is not divisible by 3 heads");
  EXPECT_THAT(load_error(text, {"workload.layers=[1"}), StartsWith("--set workload.layers=[1: "));
  EXPECT_THAT(load_error(text, {"workload.layers=1\nx=2"}), StartsWith("--set "));
  EXPECT_THAT(load_error(text, {"name=\xff"}), StartsWith("--set name="));
}

TEST(LoadSpec, SourceErrors) {
  EXPECT_EQ(error_of([] {
              load_spec({"gpt-117", {}, {}, {}});
            }),
            "gpt-117: there is neither such a file nor such a preset\n  fix: did you mean gpt-117m?");
  EXPECT_THAT(error_of([] { load_spec({"no/such.toml", {}, {}, {}}); }), HasSubstr("give a file or one of resnet50, "));
  EXPECT_EQ(error_of([] { load_spec({"/tmp", {}, {}, {}}); }), "/tmp: cannot read the file: Is a directory");
}

TEST(LoadSpec, WhatIsNotBuiltYetIsSaidAsSuch) {
  EXPECT_THAT(load_error("workload.preset='gpt-tiny'\ndevices=2\nworkload.global_batch=2"),
              StartsWith("spec.toml:2:1: this build runs on one device, not 2"));
  EXPECT_THAT(load_error("workload.kind='external'"), HasSubstr("does not run external workloads yet"));
  EXPECT_THAT(load_error("workload.preset='gpt-tiny'", {"precision=fp16"}),
              StartsWith("--set precision=fp16: this build does not train in fp16 yet"));
}

}  // namespace
}  // namespace erg
