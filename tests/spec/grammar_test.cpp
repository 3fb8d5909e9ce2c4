// The sweep grammar beside the cross product: zip, exclude, compute; formulas and conditions.
#include <gmock/gmock.h>

#include "spec/expression.hpp"
#include "spec_file.hpp"

namespace erg {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using Pair = std::pair<int64_t, int64_t>;

// Global and micro-batch of every point, that of a skipped one negative.
std::vector<Pair> batches(const std::vector<SweepPoint>& points) {
  std::vector<Pair> b;
  for (const SweepPoint& p : points)
    b.emplace_back(p.skip_reason.empty() ? p.spec.workload.global_batch : -p.spec.workload.global_batch, p.spec.workload.micro_batch);
  return b;
}

const std::string tiny = "workload.preset = 'gpt-tiny'\n";

std::vector<SweepPoint> tiny_sweep(const std::string& text) { return sweep(tiny + text); }
std::string failure(const std::string& text) {
  return error_of([&] { tiny_sweep(text); });
}
std::vector<SweepPoint> with_flags(const std::string& text, SpecRequest request) {
  const SpecFile file(tiny + text);
  request.source = file.path();
  return load_sweep(request);
}

int64_t value(const std::string& text) {
  Spec s;
  s.workload.global_batch = 96;
  s.devices = 4;
  const FormulaResult r = parse_formula(text, "here").evaluate(s);
  EXPECT_EQ(r.problem, "") << text;
  return r.value.value_or(-999);
}
std::string problem(const std::string& text) {
  const FormulaResult r = parse_formula(text, "here").evaluate(Spec{});
  EXPECT_FALSE(r.value) << text;
  return r.problem;
}
std::string refused(const std::string& text) {
  return error_of([&] { parse_formula(text, "here"); });
}

TEST(Formula, IsSchoolArithmetic) {
  EXPECT_EQ(value("global_batch / devices"), 24);
  EXPECT_EQ(value("2 + 3*4 - 10/5"), 12);
  EXPECT_EQ(value("100 / 5 / 2 - 3 - 2"), 5);
  EXPECT_EQ(value("(2 + 3) * -4"), -20);
  EXPECT_EQ(value("min(workload.global_batch, 64, 80)"), 64);
  EXPECT_EQ(value("max(1, devices/2) * 2"), 4);
  EXPECT_EQ(value(" - -7 "), 7);
}

TEST(Formula, WhatHasNoValueSaysWhy) {
  EXPECT_EQ(problem("10 / 4"), "10 / 4 leaves a remainder");
  EXPECT_EQ(problem("10 / (devices - 1)"), "10 / 0 is a division by zero");
  EXPECT_EQ(problem("9223372036854775807 + 1"), "9223372036854775807 + 1 does not fit into 64 bits");
  EXPECT_EQ(problem("4611686018427387904 * 2"), "4611686018427387904 * 2 does not fit into 64 bits");
  EXPECT_EQ(problem("(-9223372036854775807 - 1) / -1"), "0 - -9223372036854775808 does not fit into 64 bits");
  EXPECT_EQ(problem("classes * 2"), "a gpt workload has no classes");
}

TEST(Formula, WhatCannotBeReadIsAnError) {
  EXPECT_THAT(refused("global_bach / 2"), HasSubstr("did you mean workload.global_batch?"));
  EXPECT_THAT(refused("learning_rate * 2"), HasSubstr("workload.learning_rate is not a whole number"));
  EXPECT_THAT(refused("precision"), HasSubstr("workload.precision is not a whole number"));
  EXPECT_THAT(refused(""), StartsWith("here: \"\" is not complete"));
  EXPECT_THAT(refused("2 *"), HasSubstr("is not complete"));
  EXPECT_THAT(refused("(2"), HasSubstr("is not complete"));
  EXPECT_THAT(refused("min(2)"), HasSubstr("cannot read"));
  EXPECT_THAT(refused("2 // 2"), HasSubstr("cannot read \"2 // 2\" from \"/ 2\" on"));
  EXPECT_THAT(refused("2.5"), HasSubstr("cannot read"));
  EXPECT_THAT(refused("1e3"), HasSubstr("cannot read"));
  EXPECT_THAT(refused("99999999999999999999"), HasSubstr("does not fit into 64 bits"));
  EXPECT_THAT(refused(std::string(100'000, '(')), HasSubstr("a formula of 100000 characters, more than 500"));
}

TEST(Condition, ComparesAndJoins) {
  Spec s;
  s.workload.global_batch = 64;
  const auto holds = [&](const std::string& text) { return parse_condition(text, "here").holds(s); };
  EXPECT_TRUE(holds("global_batch == 64"));
  EXPECT_TRUE(holds("global_batch >= 64 and global_batch <= 64 and devices != 2"));
  EXPECT_FALSE(holds("global_batch > 64"));
  EXPECT_FALSE(holds("global_batch < 65 and devices > 1"));
  EXPECT_TRUE(holds("global_batch / devices > sequence / 32"));
  EXPECT_FALSE(holds("global_batch / 5 > 0"));  // no value, no match
  EXPECT_THAT(error_of([&] { holds("global_batch"); }), HasSubstr("there is no comparison"));
  EXPECT_THAT(error_of([&] { holds("global_batch = 3"); }), HasSubstr("there is no comparison"));
  EXPECT_THAT(error_of([&] { holds("global_batch > 3 or devices > 1"); }), HasSubstr("cannot read"));
}

TEST(ZippedAxes, AdvanceTogether) {
  const auto points = tiny_sweep("[axes]\nglobal_batch = [4, 8]\nmicro_batch = [1, 2]\nzip = [['global_batch', 'micro_batch']]");
  EXPECT_THAT(batches(points), ElementsAre(Pair(4, 1), Pair(8, 2)));
  EXPECT_THAT(points[1].coordinates, ElementsAre(std::pair("workload.global_batch", "8"), std::pair("workload.micro_batch", "2")));
}

TEST(ZippedAxes, AreOneAxisOfTheProduct) {
  const auto points =
      tiny_sweep("[axes]\nglobal_batch = [4, 8]\nsequence = [16, 32]\nmicro_batch = [1, 2]\nzip = ['micro_batch', 'global_batch']");
  EXPECT_THAT(batches(points), ElementsAre(Pair(4, 1), Pair(4, 1), Pair(8, 2), Pair(8, 2)));
  EXPECT_EQ(points[1].spec.workload.gpt.sequence, 32);
}

TEST(ZippedAxes, Errors) {
  EXPECT_EQ(failure("[axes]\nglobal_batch = [4, 8, 16]\nmicro_batch = [1, 2]\nzip = [['global_batch', 'micro_batch']]"),
            "spec.toml:5:8: zipped axes differ in length: workload.global_batch has 3 values, workload.micro_batch has 2\n"
            "  fix: give them equally many values");
  EXPECT_THAT(failure("[axes]\nglobal_batch = [4]\nzip = [['global_batch', 'micro_batch']]"),
              StartsWith("spec.toml:4:8: zip names workload.micro_batch, which has no axis"));
  EXPECT_THAT(failure("[axes]\nseed = [4]\nzip = [['global_batch', 'micro_batch']]"),
              StartsWith("spec.toml:4:8: zip names workload.global_batch, which has no axis"));
  EXPECT_THAT(
      failure("[axes]\nseed = [4]\nmicro_batch = [1]\nglobal_batch = [1]\nzip = [['seed', 'micro_batch'], ['seed', 'global_batch']]"),
      StartsWith("spec.toml:6:33: workload.seed stands in two zips"));
  EXPECT_THAT(failure("[axes]\nseed = [4]\nzip = [['seed', 'seed']]"), HasSubstr("stands in this zip twice"));
  for (const char* wrong : {"3", "[]", "['seed']", "[[1, 2]]", "[['seed'], 3]", "'seed'"})
    EXPECT_THAT(failure("[axes]\nseed = [4]\nzip = " + std::string(wrong)), HasSubstr("zip takes lists of axes")) << wrong;
  EXPECT_THAT(failure("[axes]\nseed = [4]\nzip = [['seed', 'sed']]"), HasSubstr("did you mean workload.seed?"));
}

TEST(Excluded, PointsVanish) {
  const std::string axes = "[axes]\nglobal_batch = [1, 2, 4]\nmicro_batch = [1, 2]\n";
  EXPECT_THAT(batches(tiny_sweep(axes + "exclude = [{global_batch = 1, micro_batch = 2}]")),
              ElementsAre(Pair(1, 1), Pair(2, 1), Pair(2, 2), Pair(4, 1), Pair(4, 2)));
  EXPECT_THAT(batches(tiny_sweep(axes + "exclude = 'micro_batch * 2 > global_batch'")), ElementsAre(Pair(2, 1), Pair(4, 1), Pair(4, 2)));
  EXPECT_THAT(batches(tiny_sweep(axes + "exclude = [{global_batch = [1, 2]}, 'micro_batch == 2']")), ElementsAre(Pair(4, 1)));
  EXPECT_THAT(batches(tiny_sweep(axes + "exclude.workload.global_batch = [1, 2]")), ElementsAre(Pair(4, 1), Pair(4, 2)));
}

TEST(Excluded, EveryTypeOfKeyCanBe) {
  const auto points = tiny_sweep(
      "[axes]\nprecision = ['fp32', 'bf16']\nlearning_rate = [1e-3, 1e-4]\nexclude = {precision = 'bf16', learning_rate = 0.001}");
  EXPECT_EQ(points.size(), 3u);
}

TEST(Excluded, Errors) {
  const std::string axes = "[axes]\nglobal_batch = [1, 2]\n";
  EXPECT_THAT(failure(axes + "exclude = [{global_batch = 3}]"), StartsWith("spec.toml:4:12: this excludes no point"));
  EXPECT_THAT(failure(axes + "exclude = 'global_batch > 0'"), StartsWith("spec.toml:4:11: every point is excluded"));
  EXPECT_THAT(failure(axes + "exclude = [{global_batch = 0}]"), StartsWith("spec.toml:4:13: workload.global_batch = 0 is not possible"));
  EXPECT_THAT(failure(axes + "exclude = [{global_bach = 1}]"), HasSubstr("did you mean workload.global_batch?"));
  EXPECT_THAT(failure(axes + "exclude = [{global_batch = []}]"), HasSubstr("no value to exclude"));
  for (const char* wrong : {"3", "[{}]", "[[1]]"})
    EXPECT_THAT(failure(axes + "exclude = " + wrong), HasSubstr("exclude takes conditions")) << wrong;
}

TEST(ComputedValues, FollowEachPoint) {
  const auto points = tiny_sweep("compute.micro_batch = 'global_batch / 4'\naxes.global_batch = [4, 8, 10]");
  EXPECT_THAT(batches(points), ElementsAre(Pair(4, 1), Pair(8, 2), Pair(-10, 0)));
  EXPECT_EQ(points[2].skip_reason, "workload.micro_batch = global_batch / 4: 10 / 4 leaves a remainder");
  EXPECT_EQ(points[0].coordinates.size(), 1u);
}

TEST(ComputedValues, BuildOnEachOtherAndOnWhatIsDerived) {
  const auto points = tiny_sweep(
      "[compute]\nlayers = 'hidden / 32'\nheads = 'layers * 2'\nworkload.sequence = 'min(heads * 8, 24)'\n[axes]\nhidden = [64, 128]");
  EXPECT_EQ(points[1].spec.workload.gpt.layers, 4);
  EXPECT_EQ(points[1].spec.workload.gpt.heads, 8);
  EXPECT_EQ(points[1].spec.workload.gpt.sequence, 24);
  EXPECT_EQ(points[1].spec.workload.gpt.ffn, 512);  // 4 x hidden
}

TEST(ComputedValues, OutOfRangeIsSkippedWithTheReason) {
  const auto points = tiny_sweep("compute.layers = 'global_batch - 2'\naxes.global_batch = [2, 3]");
  EXPECT_EQ(points[0].skip_reason, "workload.layers = global_batch - 2: 0 is not possible, it takes an integer from 1 to 10000");
  EXPECT_EQ(points[1].skip_reason, "");
}

// What is stored and what a child process gets has no formula left, and is the same spec.
TEST(ComputedValues, APointIsAPlainSpec) {
  const auto points = tiny_sweep(
      "compute.micro_batch = 'global_batch / 2'\n[axes]\nglobal_batch = [4, 8]\nsequence = [8, 16]\nzip = [['global_batch', "
      "'sequence']]\nexclude = 'global_batch == 4'");
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(load(to_toml(points[0].spec)), points[0].spec);
  EXPECT_THAT(to_toml(points[0].spec), testing::Not(HasSubstr("/")));
}

TEST(ComputedValues, AreForOneRunToo) {
  EXPECT_EQ(load(tiny + "workload.global_batch = 6\ncompute.micro_batch = 'global_batch / 3'").workload.micro_batch, 2);
  EXPECT_EQ(load_error(tiny + "workload.global_batch = 6\ncompute.micro_batch = 'global_batch / 4'"),
            "spec.toml:3:9: workload.micro_batch = global_batch / 4: 6 / 4 leaves a remainder");
}

TEST(ComputedValues, Errors) {
  EXPECT_THAT(failure("compute.precision = 'global_batch'"), StartsWith("spec.toml:2:9: workload.precision cannot be computed"));
  EXPECT_THAT(failure("compute.micro_batch = 2"), HasSubstr("compute.micro_batch takes a formula"));
  EXPECT_THAT(failure("compute.classes = 'global_batch'"), HasSubstr("unused key workload.classes"));
  EXPECT_THAT(failure("compute.layers = 'layers * 2'"), HasSubstr("computed from workload.layers, which is itself"));
  EXPECT_THAT(failure("[compute]\nlayers = 'heads'\nheads = 'global_batch'"),
              HasSubstr("computed after it\n  fix: move workload.heads up"));
  EXPECT_THAT(failure("compute.micro_batch = '2'\naxes.micro_batch = [1]"), HasSubstr("workload.micro_batch is an axis and computed"));
}

TEST(SweepGrammar, HoldsInSweepTables) {
  const auto points = sweep(R"(
axes.exclude = [{global_batch = 4, preset = "gpt-tiny"}, "global_batch == 16"]
compute.validation_steps = "global_batch * 2"
[[sweep]]
workload.preset = "gpt-tiny"
axes = {global_batch = [2, 4], micro_batch = [1, 2], zip = ["global_batch", "micro_batch"]}
compute.sequence = "global_batch * 8"
[[sweep]]
workload.preset = "resnet-tiny"
axes = {global_batch = [4, 8, 16]}
)");
  EXPECT_THAT(batches(points), ElementsAre(Pair(2, 1), Pair(4, 0), Pair(8, 0)));
  EXPECT_EQ(points[0].spec.workload.gpt.sequence, 16);
  EXPECT_EQ(points[2].spec.workload.validation_steps, 16);
  EXPECT_THAT(error_of([] { sweep("[[sweep]]\nworkload.preset = 'gpt-tiny'\naxes.exclude = 'devices == 2'"); }),
              HasSubstr("spec.toml:3:16: this excludes no point"));
}

TEST(SweepGrammar, HasFlags) {
  SpecRequest r;
  r.axes = {"global_batch=4,8,16", "micro_batch=1,2,4"};
  r.zips = {"global_batch, micro_batch"};
  r.excludes = {"global_batch > 8"};
  r.computes = {"layers=micro_batch"};
  const auto points = with_flags("", r);
  EXPECT_THAT(batches(points), ElementsAre(Pair(4, 1), Pair(8, 2)));
  EXPECT_EQ(points[1].spec.workload.gpt.layers, 2);
  r.excludes = {"global_batch > 99"};
  EXPECT_THAT(error_of([&] { with_flags("", r); }), StartsWith("--exclude global_batch > 99: this excludes no point"));
  r.excludes = {};
  r.computes = {"layers"};
  EXPECT_THAT(error_of([&] { with_flags("", r); }), StartsWith("--compute layers: there is no key=value"));
  r.computes = {};
  r.zips = {"global_batch"};
  EXPECT_THAT(error_of([&] { with_flags("", r); }), StartsWith("--zip global_batch: zip takes lists of axes"));
}

// A flag changes the axes that the file's zip and exclusions speak of: they do what they still can.
TEST(SweepGrammar, FlagsTakeThePlaceOfParts) {
  const std::string text =
      "compute.layers = 'micro_batch'\n[axes]\nglobal_batch = [4, 8]\nmicro_batch = [1, 2]\n"
      "zip = [['global_batch', 'micro_batch']]\nexclude = [{global_batch = 8}]";
  EXPECT_THAT(batches(with_flags(text, {{}, {"global_batch=2"}, {}, {}})), ElementsAre(Pair(2, 1), Pair(2, 2)));
  EXPECT_THAT(batches(with_flags(text, {{}, {"micro_batch=4"}, {}, {}})), ElementsAre(Pair(4, 4)));
  EXPECT_EQ(with_flags(text, {{}, {"layers=3"}, {}, {}})[0].spec.workload.gpt.layers, 3);
  EXPECT_THAT(error_of([&] { with_flags(text, {{}, {}, {"global_batch=1,2,3"}, {}}); }), HasSubstr("zipped axes differ in length"));
}

TEST(SweepGrammar, RepeatsStayInterleaved) {
  const auto points = tiny_sweep("measure.repeat = 2\n[axes]\nglobal_batch = [1, 2, 3]\nexclude = 'global_batch == 2'");
  EXPECT_THAT(batches(points), ElementsAre(Pair(1, 0), Pair(3, 0), Pair(1, 0), Pair(3, 0)));
  EXPECT_EQ(points[3].spec.repeat_index, 1);
}

TEST(SweepGrammar, IsNotForOneRun) {
  EXPECT_THAT(load_error(tiny + "axes.exclude = 'global_batch == 2'"), HasSubstr("this describes a sweep, not one run"));
}

}  // namespace
}  // namespace erg
