// The repro line, read by a real shell and parsed again, gives a spec of the same hash.
#include <gtest/gtest.h>

#include <fstream>

#include "../store/sample_records.hpp"
#include "core/process.hpp"
#include "run/measure.hpp"

namespace erg {
namespace {

// The words a shell makes of a command line.
std::vector<std::string> shell_words(const std::string& line) {
  ChildOptions shell;
  shell.argv = {"sh", "-c", "ergometer() { printf '%s\\0' \"$@\"; }; " + line};
  const ChildResult r = run_child(shell);
  std::vector<std::string> words;
  for (size_t begin = 0, end; (end = r.out.find('\0', begin)) != std::string::npos; begin = end + 1)
    words.push_back(r.out.substr(begin, end - begin));
  return words;
}

Spec spec_of(const std::vector<std::string>& words) {
  SpecRequest request;
  EXPECT_GE(words.size(), 2u);
  EXPECT_EQ(words.at(0), "run");
  request.source = words.at(1);
  for (size_t i = 2; i + 1 < words.size(); i += 2) (words[i] == "--set" ? request.set : request.labels).push_back(words[i + 1]);
  return load_spec(request);
}

void expect_repeatable(const SpecRequest& request) {
  const Spec spec = load_spec(request);
  const Spec again = spec_of(shell_words(repro_line(spec)));
  EXPECT_EQ(spec_hash(again), spec_hash(spec)) << repro_line(spec);
  EXPECT_EQ(to_toml(again), to_toml(spec));
}

TEST(Repro, APlainPresetIsShort) { EXPECT_EQ(repro_line(load_spec({"gpt-117m", {}, {}, {}})), "ergometer run gpt-117m"); }

TEST(Repro, EveryChangeIsRepeated) {
  expect_repeatable(
      {"gpt-tiny", {"device=ref", "global_batch=8", "micro_batch=2", "hidden=128", "ffn=300", "learning_rate=0.000125"}, {}, {}});
  expect_repeatable({"resnet50", {"global_batch=64", "precision=fp32", "blocks=[1, 2, 1, 1]"}, {}, {}});
  expect_repeatable({"gpt-117m", {"measure.settle_max_s=3.5", "measure.check=false", "energy.methods=[\"none\"]", "seed=18"}, {}, {}});
}

TEST(Repro, AwkwardTextSurvivesTheShell) {
  expect_repeatable({"gpt-tiny", {"name=it's $HOME \\ \"quoted\" `x` * ö", "data=a folder/with blanks"}, {}, {"who=me & you", "x=1"}});
  expect_repeatable({"gpt-tiny", {"name='single'"}, {}, {}});
  Spec spec = load_spec({"gpt-tiny", {}, {}, {}});
  spec.name = "\"starts with a quote";
  EXPECT_EQ(spec_of(shell_words(repro_line(spec))).name, spec.name);
}

TEST(Repro, AFilesSpecNeedsNoFile) {
  test::TemporaryFolder folder;
  const std::string path = (folder.path() / "my run.toml").string();
  std::ofstream(path) << "[workload]\npreset = \"gpt-tiny\"\nglobal_batch = 4\n[labels]\na = \"b\"\n";
  expect_repeatable({path, {}, {}, {}});
}

TEST(Repro, WithoutAPresetTheSpecIsPiped) {
  test::TemporaryFolder folder;
  const std::string path = (folder.path() / "own.toml").string();
  std::ofstream(path)
      << "name = \"it's mine\"\n[workload]\nkind = \"gpt\"\nlayers = 2\nhidden = 64\nheads = 2\nsequence = 16\nvocabulary = 100\n";
  const Spec spec = load_spec({path, {}, {}, {}});
  ChildOptions shell;
  const std::string stored = (folder.path() / "piped.toml").string();
  shell.argv = {"sh", "-c", "ergometer() { cat \"$2\" > " + stored + "; }; " + repro_line(spec)};
  EXPECT_EQ(run_child(shell).exit_code, 0);
  EXPECT_EQ(spec_hash(load_spec({stored, {}, {}, {}})), spec_hash(spec));
}

TEST(Repro, TheRepeatIndexIsNotPartOfIt) {
  Spec first = load_spec({"gpt-tiny", {"measure.repeat=3"}, {}, {}}), third = first;
  third.repeat_index = 2;
  EXPECT_EQ(repro_line(first), repro_line(third));
}

}  // namespace
}  // namespace erg
