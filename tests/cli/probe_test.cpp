// `ergometer probe` on the command line: wrong inputs, and a run that is held against a stored peak.
#include <gmock/gmock.h>

#include <fstream>

#include "program.hpp"

namespace erg {
namespace {

using namespace test;
using testing::HasSubstr;

TEST(Probe, WrongInputsNameTheFix) {
  const ChildResult many = Program()({"probe", "--device", "ref", "--threads", "4000"});
  EXPECT_EQ(many.exit_code, 2);
  EXPECT_THAT(many.err, HasSubstr("use 1 to 1"));
  EXPECT_EQ(Program()({"probe", "--threads", "0"}).exit_code, 2);
  EXPECT_EQ(Program()({"probe", "--device", "cuda"}).exit_code, 77);
}

TEST(Probe, ARunWithoutOneSaysHowToGetIt) {
  Program ergometer;
  const auto record = ergometer.json(std::vector<std::string>{"run", "gpt-tiny", "--device", "ref"} + brief);
  EXPECT_TRUE(record.at("probe").is_null());
  EXPECT_THAT(std::string(record.at("metrics").at("mfu_probe").at("reason")), HasSubstr("run `ergometer probe --device ref`"));
}

// Every table of shapes and several seconds of heat, on the real machine.
TEST(FullProbe, RunsAreHeldAgainstIt) {
  Program ergometer;
  const auto probe = ergometer.json({"probe"});
  EXPECT_TRUE(std::filesystem::exists(ergometer.results() + "/probes/" + std::string(probe.at("identity")) + ".json"));
  const auto record = ergometer.json(std::vector<std::string>{"run", "gpt-tiny"} + brief);
  const auto& share = record.at("metrics").at("mfu_probe").at("value");
  ASSERT_TRUE(share.is_number()) << record.at("metrics").at("mfu_probe");
  EXPECT_NEAR(double(share),
              1e12 * double(record.at("metrics").at("model_tflops_per_device").at("value")) / double(record.at("probe").at("peak_flops")),
              1e-9);
  EXPECT_EQ(record.at("probe").at("identity"), probe.at("identity"));
  EXPECT_THAT(ergometer({"show"}).out, HasSubstr("probe        "));
  EXPECT_EQ(ergometer.json({"probe"}), probe);  // not measured again
}

}  // namespace
}  // namespace erg
