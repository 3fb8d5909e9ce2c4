// The probe's arithmetic on an engine whose clock is made up, and its check on one that computes wrongly.
#include <gmock/gmock.h>

#include "../run/fakes.hpp"
#include "engine/host_memory.hpp"
#include "probe/gemm.hpp"
#include "probe/memory.hpp"

namespace erg {
namespace {

// y = x w^T in plain loops, in the time that `seconds` says; every result is `spoiled` by a factor.
class FakeLinear final : public Op {
 public:
  FakeLinear(const LinearDesc& d, FakeClock& clock, double seconds, float spoiled)
      : d_(d), clock_(clock), seconds_(seconds), spoiled_(spoiled) {}
  std::vector<ParameterSpec> parameters() const override { return {{"weight", {d_.out, d_.in}, d_.out * d_.in, true, true}}; }
  void import_parameter(size_t, const float* logical) override { std::copy_n(logical, d_.out * d_.in, bound()[0].master); }
  void forward(Inputs in, Inputs out, Mode) override {
    clock_.advance(seconds_);
    for (int64_t i = 0; i < d_.rows; ++i)
      for (int64_t j = 0; j < d_.out; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < d_.in; ++l) sum += double(in[0].as<float>()[i * d_.in + l]) * bound()[0].master[j * d_.in + l];
        out[0].as<float>()[i * d_.out + j] = float(sum) * spoiled_;
      }
  }
  void backward(Inputs, Inputs, Inputs, Inputs, Accumulate) override {}

 private:
  LinearDesc d_;
  FakeClock& clock_;
  double seconds_;
  float spoiled_;
};

class FakeMachine final : public test::FakeEngine {
 public:
  FakeClock clock;
  std::function<double(const LinearDesc&)> seconds = [](const LinearDesc&) { return 0.01; };
  float spoiled = 1;
  double bytes_per_s = 10e9;
  bool loses_writes = false;
  bool bf16 = false;

  bool supports(DType t) const override { return t == DType::f32 || bf16; }
  std::unique_ptr<Buffer> allocate(int64_t bytes, const std::string& purpose) override { return memory_.allocate(bytes, purpose); }
  int64_t storage_bytes(DType dtype, const Shape& shape, Layout) const override { return elements(shape) * bytes_of(dtype); }
  void write(const Tensor& to, const float* from) override { std::copy_n(from, to.size(), to.as<float>()); }
  void read(const Tensor& from, float* to) override { std::copy_n(from.as<float>(), from.size(), to); }
  std::unique_ptr<Op> linear(const LinearDesc& d) override { return std::make_unique<FakeLinear>(d, clock, seconds(d), spoiled); }
  double stream(StreamKind kind, const StreamArrays& x) override {
    const int moved = kind == StreamKind::triad ? 3 : kind == StreamKind::copy ? 2 : 1;
    clock.advance(1e-6 + double(moved * std::max(x.a.bytes, x.b.bytes)) / bytes_per_s);
    if (loses_writes && kind == StreamKind::copy) return 0;
    return Engine::stream(kind, x);
  }

 private:
  HostMemory memory_;
};

const std::vector<GemmShape> three = {{8, 8, 8, "small"}, {16, 16, 16, "middle"}, {16, 16, 32, "large"}};

TEST(GemmProbe, ThePeakIsTheFastestShape) {
  FakeMachine m;
  m.seconds = [](const LinearDesc& d) { return double(2 * d.rows * d.in * d.out) / (d.in == 16 ? 5e6 : 1e6); };
  const GemmProbe p = probe_gemm(m, DType::f32, {}, m.clock, three);
  EXPECT_NEAR(p.peak.best_flops, 5e6, 1);
  EXPECT_NEAR(p.peak.median_flops, 5e6, 1);
  EXPECT_EQ(p.peak.shape.what, "middle");
  EXPECT_EQ(p.shapes.size(), 3u);
  EXPECT_THAT(p.left_out, testing::IsEmpty());
  EXPECT_TRUE(p.check.passed());
  EXPECT_EQ(p.check.entries, 5 * 64);  // three shapes, and two again
}

TEST(GemmProbe, BestAndMedianAreOfTheHeatedCalls) {
  FakeMachine m;
  int made = 0;  // a new op for every measurement: the two heated ones are the last
  m.seconds = [&](const LinearDesc&) { return ++made > 3 ? 0.002 : 0.004; };
  const GemmProbe p = probe_gemm(m, DType::f32, {}, m.clock, three);
  EXPECT_NEAR(p.peak.best_flops, 2.0 * 16 * 16 * 32 / 0.002, 1e-3);
  EXPECT_GE(p.peak.calls, 900);  // two seconds of them
}

TEST(GemmProbe, AShapeThatTakesTooLongIsLeftOut) {
  FakeMachine m;
  m.seconds = [](const LinearDesc& d) { return double(2 * d.rows * d.in * d.out) / 1e3; };
  ProbeTimes times;
  times.longest_call_s = 10;  // 8192 FLOP take 8.2 s, 16384 take 16.4 s
  const GemmProbe p = probe_gemm(m, DType::f32, times, m.clock, three);
  EXPECT_THAT(p.left_out, testing::ElementsAre("16 x 16 x 32"));
  EXPECT_EQ(p.peak.shape.what.empty(), false);
}

TEST(GemmProbe, WrongResultsAreSeen) {
  FakeMachine m;
  m.spoiled = 1.001f;
  EXPECT_FALSE(probe_gemm(m, DType::f32, {}, m.clock, three).check.passed());
  m.spoiled = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(probe_gemm(m, DType::f32, {}, m.clock, three).check.passed());
}

TEST(GemmProbe, ATypeThatIsNotThereIsUnavailable) {
  FakeMachine m;
  try {
    probe_gemm(m, DType::bf16, {}, m.clock, three);
    FAIL();
  } catch (const Error& e) { EXPECT_EQ(e.kind(), ErrorKind::unavailable); }
}

TEST(GemmProbe, NothingCheckedIsNotPassed) { EXPECT_FALSE(GemmCheck{}.passed()); }

// Closed forms: min(k, 8 sqrt k) 2^-24 of the products' sizes; bf16 keeps 8 bits of the result.
TEST(GemmProbe, TheAllowedErrorFollowsTheArithmetic) {
  EXPECT_NEAR(allowed_gemm_error(DType::f32, 16, 5, 100) / (16 * 0x1p-24 * 100), 1, 1e-9);
  EXPECT_NEAR(allowed_gemm_error(DType::f32, 1024, 5, 100) / (256 * 0x1p-24 * 100), 1, 1e-9);
  EXPECT_NEAR(allowed_gemm_error(DType::bf16, 16, -5, 0) / (5.0 / 256), 1, 1e-9);
}

TEST(MemoryProbe, CountsBytesAsStreamDoes) {
  FakeMachine m;
  const MemoryProbe p = probe_memory(m, 1 << 20, 0.01, m.clock);
  EXPECT_EQ(p.array_bytes, 1 << 20);
  ASSERT_EQ(p.streams.size(), 4u);
  for (const StreamRate& r : p.streams) {  // the fake moves what STREAM counts, and a microsecond more
    EXPECT_NEAR(r.best_bytes_per_s / 10e9, 1, 0.02) << r.stream;
    EXPECT_GE(r.calls, 5) << r.stream;
  }
  EXPECT_TRUE(p.check_passed);
}

TEST(MemoryProbe, AnArrayThatWasNotWrittenIsSeen) {
  FakeMachine m;
  m.loses_writes = true;
  EXPECT_FALSE(probe_memory(m, 1 << 16, 0.001, m.clock).check_passed);
}

TEST(MemoryProbe, AnEmptyCallCostsACall) {
  FakeMachine m;
  EXPECT_NEAR(probe_empty_call(m, 0.001, m.clock).median_s, 1e-6, 1e-9);
}

TEST(Timing, HeatsThenMeasuresEachCall) {
  FakeClock clock;
  int calls = 0;
  const CallTimes t = time_calls([&] { clock.advance(++calls <= 10 ? 0.1 : calls % 2 ? 0.02 : 0.01); }, clock, 1.0, 0.1, 3);
  EXPECT_NEAR(t.best_s, 0.01, 1e-9);
  EXPECT_LE(t.median_s, 0.02 + 1e-9);
  EXPECT_THAT(t.calls, testing::AnyOf(calls - 10, calls - 11));  // ten or, by rounding, eleven heat
  EXPECT_EQ(time_calls([&] { clock.advance(5); }, clock, 0, 0, 4).calls, 4);
}

}  // namespace
}  // namespace erg
