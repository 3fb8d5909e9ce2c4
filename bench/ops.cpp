// Every op timed, forward and backward apart, with FLOP/s and bytes/s by the descriptors' own counts. Two tables of cases: the odd ones
// that tests hold engines to, on every engine, and each distinct op of real networks, on the CPU engine. Names are GROUP/OP/ENGINE/PASS:
//   ops_bench --benchmark_filter='^gpt-117m/linear.*bf16.*backward'
//   ops_bench --network resnet50 --set workload.global_batch=4 --set workload.precision=bf16
// An op runs again and again on the same tensors: small ones stay in cache, as they would not in a network.
#include <benchmark/benchmark.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <map>

#include "core/clock.hpp"
#include "core/error.hpp"
#include "engine/op_cases.hpp"
#include "engine/op_run.hpp"
#include "model/work.hpp"
#include "network_ops.hpp"

namespace erg::bench {
namespace {

using test::OpCase;
using test::OpRun;

constexpr double most_flops_of_ref = 1e8;  // the reference engine's plain loops take a second for these

struct NamedNetwork {
  std::string spec;
  std::vector<std::string> set;
};
const std::vector<NamedNetwork> usual_networks = {
    {"resnet50", {"workload.global_batch=32", "workload.precision=bf16"}},
    {"resnet50", {"workload.global_batch=32", "workload.precision=fp32"}},
    {"gpt-117m", {"workload.global_batch=4", "workload.sequence=512", "workload.precision=bf16"}},
    {"gpt-117m", {"workload.global_batch=4", "workload.sequence=512", "workload.precision=fp32"}},
};

enum class Direction { forward, backward };

// Engines live as long as the program; the op of the last case is kept, because Google Benchmark calls several times to time one.
class Bench {
 public:
  Engine* engine(const std::string& name) {
    if (const auto found = engines_.find(name); found != engines_.end()) return found->second.get();
    try {
      return (engines_[name] = open_engine(name)).get();
    } catch (const Error& e) {
      std::cerr << "ops_bench: engine " << name << " is left out: " << e.what() << '\n';
      return (engines_[name] = nullptr).get();
    }
  }

  OpRun& op(Engine& engine, const OpCase& c) {
    const std::string key = engine.info().name + name_of(c);
    if (key == key_) return *op_;
    op_.reset();
    engine.release_scratch();
    op_ = std::make_unique<OpRun>(engine, c);
    key_ = key;
    return *op_;
  }

  void finish() {
    op_.reset();
    engines_.clear();
  }

 private:
  std::map<std::string, std::unique_ptr<Engine>> engines_;
  std::unique_ptr<OpRun> op_;
  std::string key_;
};

Bench& bench() {
  static Bench b;
  return b;
}

void time_op(benchmark::State& state, Engine& engine, const OpCase& c, Direction direction) try {
  OpRun& op = bench().op(engine, c);
  for (auto _ : state) {
    if (direction == Direction::backward) op.ready_backward();
    engine.synchronize();
    const double begin = steady_clock().now();
    if (direction == Direction::forward)
      op.forward();
    else
      op.backward(c.accumulate ? Accumulate::yes : Accumulate::no);
    engine.synchronize();
    state.SetIterationTime(steady_clock().now() - begin);
  }
  const Work work = direction == Direction::forward ? forward_work(c.desc) : backward_work(c.desc);
  const auto rate = benchmark::Counter::kIsIterationInvariantRate;
  if (work.flops > 0) state.counters["FLOP/s"] = benchmark::Counter(work.flops, rate);
  if (work.bytes > 0) state.counters["B/s"] = benchmark::Counter(work.bytes, rate);
} catch (const Error& e) { state.SkipWithError(e.what()); }

void add(const std::string& group, Engine& engine, const OpCase& c) {
  if (!engine.supports(std::visit([](const auto& d) { return d.dtype; }, c.desc))) return;
  const std::string name = group + "/" + name_of(c) + "/" + engine.info().name + "/";
  const auto add_pass = [&](const std::string& pass_name, Direction direction) {
    benchmark::RegisterBenchmark((name + pass_name).c_str(),
                                 [&engine, c, direction](benchmark::State& s) { time_op(s, engine, c, direction); })
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  };
  const bool classifier = std::holds_alternative<ClassifierDesc>(c.desc);
  if (!classifier) add_pass("forward", Direction::forward);
  add_pass(classifier ? "train" : "backward", Direction::backward);
}

void add_odd_cases() {
  for (const OpCase& c : test::op_cases())
    for (const char* name : {"cpu", "ref"})
      if (Engine* engine = bench().engine(name)) add("odd", *engine, c);
}

// Also the convolutions that a bottleneck is made of, each alone.
std::vector<CountedOp> with_parts(const std::vector<OpDesc>& ops) {
  std::vector<OpDesc> all;
  for (const OpDesc& desc : ops) {
    const std::vector<OpDesc> parts = parts_of(desc);
    all.push_back(desc);
    all.insert(all.end(), parts.begin(), parts.end());
  }
  return distinct_ops(all);
}

void add_network(const NamedNetwork& network) {
  SpecRequest request;
  request.source = network.spec, request.set = network.set;
  const Spec spec = load_spec(request);
  for (const char* name : {"cpu", "ref"}) {
    Engine* engine = bench().engine(name);
    if (!engine) continue;
    if (spec.workload.precision == Precision::bf16 && !engine->supports(DType::bf16)) continue;
    for (const auto& [desc, count] : with_parts(ops_of(make_network(spec, activations_of(spec, *engine))))) {
      const OpCost work = cost(desc);
      if (std::string(name) == "ref" && work.flops_forward + work.bytes_forward > most_flops_of_ref) continue;
      OpCase c{.desc = desc};
      c.gradients = spec.workload.gradients;
      add(network.spec, *engine, c);
    }
  }
}

int run(int argc, char** argv) {
  CLI::App app("Times every op; further options are Google Benchmark's (--benchmark_filter=REGEX, --benchmark_min_time=SECONDS, ...)");
  NamedNetwork network;
  app.add_option("--network", network.spec, "Time the ops of this spec or preset instead of the usual networks and the odd cases");
  app.add_option("--set", network.set, "Set a key of it: workload.global_batch=32; may be given often")->allow_extra_args(false);
  app.allow_extras();
  CLI11_PARSE(app, argc, argv);
  std::vector<std::string> rest = app.remaining();
  std::vector<char*> arguments{argv[0]};
  for (std::string& r : rest) arguments.push_back(r.data());
  int count = int(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
  try {
    if (!network.spec.empty()) {
      add_network(network);
    } else {
      add_odd_cases();
      for (const NamedNetwork& usual : usual_networks) add_network(usual);
    }
  } catch (const Error& e) {
    std::cerr << "ops_bench: " << e.what() << '\n';
    return e.exit_code();
  }
  benchmark::RunSpecifiedBenchmarks();
  bench().finish();
  return 0;
}

}  // namespace
}  // namespace erg::bench

int main(int argc, char** argv) { return erg::bench::run(argc, argv); }
