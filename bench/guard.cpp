// A guard against ops that became slow, without absolute times: each op is held against what this machine does in the same seconds for its
// primitives alone (primitives.hpp) and for streaming its bytes once more at triad speed. Rounds alternate; the median ratio counts.
// CPU time of one thread is what a busy machine disturbs least; with --threads 2 and more it is wall time, for a quiet machine.
//   guard [--rounds 7] [--threads 1] [--filter TEXT]        exit code 1: an op is slower than it should be
#include <fmt/format.h>
#include <time.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <iostream>
#include <optional>

#include "core/error.hpp"
#include "core/stats.hpp"
#include "engine/op_cases.hpp"
#include "engine/op_run.hpp"
#include "model/work.hpp"
#include "network_ops.hpp"
#include "primitives.hpp"

namespace erg::bench {
namespace {

constexpr auto bf16 = DType::bf16, fp32 = DType::f32;
constexpr auto none = Activation::none, gelu = Activation::gelu_tanh;

// Times the usual ratio. With every op run three times over, 20 of 26 fail; a busy machine, or another processor, does not.
constexpr double allowed = 2.5;

// Layers of ResNet-50 and GPT 124 M at small batches, and the ratios that a core with AVX512_BF16 (Zen 4, Zen 5) usually has, forward and
// backward. rate_of: whose primitives say how fast the products of an op of own kernels could be.
struct Case {
  OpDesc op;
  double forward, backward;
  std::optional<OpDesc> rate_of = {};
};
const LinearDesc square{512, 768, 768, false, none, bf16};
const std::vector<Case> cases = {
    {ConvBnDesc{4, 3, 224, 224, 64, 7, 2, 3, false, true, false, bf16}, 1.1, 1.15},
    {BottleneckDesc{4, 256, 56, 56, 64, 1, false, bf16}, 1.1, 1.1},
    {BottleneckDesc{4, 512, 28, 28, 256, 2, true, bf16}, 1.1, 1.1},
    {BottleneckDesc{4, 1024, 14, 14, 256, 1, false, bf16}, 1.1, 1.15},
    {BottleneckDesc{4, 1024, 14, 14, 256, 1, false, fp32}, 1.05, 1.05},
    {MaxPoolDesc{4, 64, 112, 112, 3, 2, 1, bf16}, 8, 4},
    {LinearDesc{512, 768, 2304, true, none, bf16}, 1.1, 1.1},
    {LinearDesc{512, 768, 3072, true, gelu, bf16}, 1.15, 1.1},
    {LinearDesc{512, 768, 3072, true, gelu, fp32}, 1.15, 1.1},
    {ResidualNormDesc{2048, 768, true, bf16}, 2.2, 2.2},
    {AttentionDesc{1, 1024, 12, 64, false, bf16}, 1.65, 1.9, square},
    {EmbeddingDesc{4, 1024, 50304, 768, 1024, true, bf16}, 5.3, 9.5},
    {ClassifierDesc{512, 768, 16384, 0, false, false, 0, 1, bf16}, 0, 1.15},  // trains in one call
};
constexpr double adamw_ratio = 0.9;

double time_on(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

struct Stopwatch {
  clockid_t clock;
  double operator()(const std::function<void()>& call) const {
    const double begin = time_on(clock);
    call();
    return time_on(clock) - begin;
  }
};

// Seconds a byte by the engine's triad, over arrays larger than most caches.
class Triad {
 public:
  explicit Triad(Engine& engine) : engine_(engine) {
    for (auto& buffer : buffers_) buffer = engine.allocate(array_bytes, "triad");
    const auto view = [&](size_t i) { return engine.view(*buffers_[i], fp32, {array_bytes / 4}, Layout::plain); };
    arrays_ = {view(0), view(1), view(2), 2};
  }
  double seconds_per_byte(const Stopwatch& seconds) {
    return seconds([&] { engine_.stream(StreamKind::triad, arrays_); }) / (3 * double(array_bytes));
  }

 private:
  static constexpr int64_t array_bytes = 64 << 20;
  Engine& engine_;
  std::unique_ptr<Buffer> buffers_[3];
  StreamArrays arrays_;
};

// One pass of an op and what it is held against.
struct Timed {
  std::function<void()> before = [] {};  // each op; not timed
  std::function<void()> op = {}, primitives = [] {};
  double flops = 0, primitive_flops = 0;  // primitive_flops 0: there are none
  double bytes = 0, usual = 0;
};

class Guard {
 public:
  Guard(Engine& engine, Stopwatch seconds, int rounds) : engine_(engine), seconds_(seconds), triad_(engine), rounds_(rounds) {}

  void hold(const Case& c) {
    engine_.release_scratch();
    test::OpRun op(engine_, {.desc = c.op});
    const OpDesc rate_of = c.rate_of.value_or(c.op);
    Primitives primitives(engine_, rate_of);
    const auto held = [&](const Work& work, const Work& rate, double usual) {
      return Timed{.flops = work.flops, .primitive_flops = primitives.empty() ? 0 : rate.flops, .bytes = work.bytes, .usual = usual};
    };
    Timed forward = held(forward_work(c.op), forward_work(rate_of), c.forward);
    Timed backward = held(backward_work(c.op), backward_work(rate_of), c.backward);
    forward.op = [&] { op.forward(); };
    forward.primitives = [&] { primitives.forward(); };
    backward.before = [&] { op.ready_backward(); };
    backward.op = [&] { op.backward(); };
    backward.primitives = [&] { primitives.backward(); };
    if (std::holds_alternative<ClassifierDesc>(c.op)) {
      backward.primitives = [&] { primitives.forward(), primitives.backward(); };
      return report(describe(c.op) + ", train", backward);
    }
    report(describe(c.op) + ", forward", forward);
    report(describe(c.op) + ", backward", backward);
  }

  void hold_adamw(int64_t elements) {
    engine_.release_scratch();
    const std::unique_ptr<OptimizerOp> optimizer = engine_.optimizer();
    std::vector<std::unique_ptr<Buffer>> buffers;
    const auto floats = [&](int64_t count) {
      buffers.push_back(engine_.allocate(count * 4, "guard"));
      return static_cast<float*>(buffers.back()->data());
    };
    FlatStorage s;
    s.elements = s.decay_elements = elements;
    s.master = floats(elements), s.gradient = floats(elements), s.state1 = floats(elements), s.state2 = floats(elements);
    const Tensor norm{fp32, {1}, Layout::plain, floats(1), 4};
    const AdamWStep step{1e-4, 0.9, 0.95, 1e-8, 0.1, 1, 0};
    const auto update = [&] { optimizer->adamw(s, step, norm); };
    report(fmt::format("adamw {} fp32", elements),
           {.op = update, .bytes = 4.0 * 7 * double(elements), .usual = adamw_ratio});  // 4 read, 3 written
  }

  int slow() const { return slow_; }
  int held() const { return held_; }

 private:
  // What is over its limit is measured once more, longer, before it counts.
  void report(const std::string& name, const Timed& timed) {
    const double limit = allowed * timed.usual;
    double measured = ratio(timed, rounds_);
    if (measured > limit) measured = ratio(timed, 3 * rounds_);
    const bool good = measured <= limit;
    ++held_;
    if (!good) ++slow_;
    fmt::print("{} {:6.2f}  at most {:6.2f}  {}\n", good ? "ok  " : "SLOW", measured, limit, name);
    std::cout.flush();
  }

  double ratio(const Timed& timed, int rounds) {
    std::vector<double> ratios;
    for (int i = -1; i < rounds; ++i) {  // round -1 warms up
      timed.before();
      const double op = seconds_(timed.op);
      const double products = timed.primitive_flops > 0 ? seconds_(timed.primitives) * timed.flops / timed.primitive_flops : 0;
      const double streams = timed.bytes * triad_.seconds_per_byte(seconds_);
      if (i >= 0) ratios.push_back(op / (products + streams));
    }
    return median(ratios);
  }

  Engine& engine_;
  Stopwatch seconds_;
  Triad triad_;
  int rounds_, slow_ = 0, held_ = 0;
};

int run(int argc, char** argv) {
  CLI::App app("Fails when an op takes much longer than its primitives and its bytes");
  int rounds = 7, threads = 1;
  std::string filter;
  app.add_option("--rounds", rounds, "Alternating rounds; the median counts")->check(CLI::Range(1, 1000));
  app.add_option("--threads", threads, "1: CPU time is held; more: wall time, on a quiet machine")->check(CLI::Range(1, 4096));
  app.add_option("--filter", filter, "Only ops whose description has this text");
  CLI11_PARSE(app, argc, argv);
  try {
    const std::unique_ptr<Engine> engine = open_engine("cpu", {0, threads});
    const Stopwatch seconds{threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC};
    Guard guard(*engine, seconds, rounds);
    fmt::print("op / (its primitives + its bytes at triad speed), median of {} rounds, {} thread{}\n", rounds, threads,
               threads == 1 ? "" : "s");
    for (const Case& c : cases) {
      if (describe(c.op).find(filter) == std::string::npos) continue;
      if (engine->info().native_bf16 || std::visit([](const auto& d) { return d.dtype; }, c.op) == fp32)
        guard.hold(c);
      else
        fmt::print("left out: {}: this processor does not multiply bf16\n", describe(c.op));
    }
    if (std::string("adamw").find(filter) != std::string::npos) guard.hold_adamw(16 << 20);
    if (guard.held() == 0) throw Error(ErrorKind::usage, "nothing held here has '" + filter + "' in its description", "--filter");
    if (guard.slow() > 0) fmt::print("{} of {} are slower than they should be\n", guard.slow(), guard.held());
    return guard.slow() > 0;
  } catch (const Error& e) {
    std::cerr << "guard: " << e.what() << '\n';
    return e.exit_code();
  }
}

}  // namespace
}  // namespace erg::bench

int main(int argc, char** argv) { return erg::bench::run(argc, argv); }
