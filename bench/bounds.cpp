// The limit of a training step on this machine, as far as oneDNN goes: what its convolutions alone, or its matrix products alone, would
// allow if everything else were free.
//   bounds resnet50 --set workload.global_batch=32 --set workload.precision=bf16 [--json FILE|-]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/units.hpp"
#include "network_ops.hpp"
#include "primitives.hpp"
#include "probe/timing.hpp"

namespace erg::bench {
namespace {

constexpr double heat_s = 0.1, measure_s = 0.3;  // of each distinct op, at least three times

// Seconds that an op's primitives take, forward and backward: the median.
double seconds_of(Engine& engine, const OpDesc& desc, ImageLayout layout) {
  Primitives primitives(engine, desc, layout);
  const auto call = [&] { primitives.forward(), primitives.backward(); };
  return time_calls(call, steady_clock(), heat_s, measure_s).median_s;
}

bool convolves(const OpDesc& d) { return std::holds_alternative<ConvBnDesc>(d) || std::holds_alternative<BottleneckDesc>(d); }
bool multiplies(const OpDesc& d) { return std::holds_alternative<LinearDesc>(d) || std::holds_alternative<ClassifierDesc>(d); }
double flops(const OpDesc& d) { return causal_cost(d).flops_forward + causal_cost(d).flops_backward; }

struct Bound {
  std::string name;
  double seconds = 0;  // of one micro-batch
};

// All convolutions in one layout. The classifier of a ResNet is left out: 0.05 % of its work.
std::vector<Bound> convolution_bounds(Engine& engine, const std::vector<CountedOp>& ops) {
  std::vector<Bound> bounds{{"convolutions, our layout"}, {"convolutions, NHWC"}};
  for (const CountedOp& op : ops) {
    if (!convolves(op.desc)) continue;
    bounds[0].seconds += double(op.count) * seconds_of(engine, op.desc, ImageLayout::ours);
    bounds[1].seconds += double(op.count) * seconds_of(engine, op.desc, ImageLayout::nhwc);
  }
  return bounds;
}

// All products of linear layers and classifier on operands that lie as oneDNN likes them, and the causal half of attention's products at
// the rate of these.
std::vector<Bound> product_bounds(Engine& engine, const std::vector<CountedOp>& ops) {
  double seconds = 0, product_flops = 0, attention_flops = 0;
  for (const CountedOp& op : ops) {
    if (multiplies(op.desc)) {
      seconds += double(op.count) * seconds_of(engine, op.desc, ImageLayout::ours);
      product_flops += double(op.count) * flops(op.desc);
    } else if (std::holds_alternative<AttentionDesc>(op.desc)) {
      attention_flops += double(op.count) * flops(op.desc);
    }
  }
  return {{"products", seconds * (1 + attention_flops / product_flops)}};
}

nlohmann::json measure(const SpecRequest& request) {
  const Spec spec = load_spec(request);
  const std::unique_ptr<Engine> engine = open_engine("cpu");
  const DType dtype = activations_of(spec, *engine);
  const Network network = make_network(spec, dtype);
  const std::vector<CountedOp> ops = distinct_ops(network);
  const bool images = std::any_of(ops.begin(), ops.end(), [](const CountedOp& op) { return convolves(op.desc); });

  nlohmann::json json{{"workload", request.source},        {"micro_batch", network.micro_batch},
                      {"precision", name_of(dtype)},       {"unit", images ? "images/s" : "tokens/s"},
                      {"threads", engine->info().threads}, {"library", engine->info().library}};
  double limit = 0;
  for (const Bound& b : images ? convolution_bounds(*engine, ops) : product_bounds(*engine, ops)) {
    const double rate = double(network.samples_per_micro_batch) / b.seconds;
    json["bounds"].push_back({{"name", b.name}, {"seconds", b.seconds}, {"rate", rate}});
    limit = std::max(limit, rate);
  }
  json["limit"] = limit;
  return json;
}

void print(const nlohmann::json& j) {
  fmt::print("{}, micro-batch {}, {}, {} threads, {}\n", j["workload"].get<std::string>(), j["micro_batch"].get<int64_t>(),
             j["precision"].get<std::string>(), j["threads"].get<int>(), j["library"].get<std::string>());
  for (const auto& b : j["bounds"])
    fmt::print("  {:26} {:>9}  {:>7} {}\n", b["name"].get<std::string>(), duration(b["seconds"]), significant(b["rate"]),
               j["unit"].get<std::string>());
}

int run(int argc, char** argv) {
  CLI::App app("What oneDNN's convolutions or products alone would allow: the limit of a training step");
  SpecRequest request;
  std::string json;
  app.add_option("SPEC", request.source, "A spec file, or a preset such as gpt-117m or resnet50")->required();
  app.add_option("--set", request.set, "Set a key: workload.global_batch=32; may be given often")->allow_extra_args(false);
  app.add_option("--json", json, "Write JSON to a file, or to stdout with -");
  CLI11_PARSE(app, argc, argv);
  try {
    const nlohmann::json measured = measure(request);
    if (json.empty())
      print(measured);
    else if (json == "-")
      std::cout << measured.dump(1) << '\n';
    else
      write_file_atomically(json, measured.dump(1) + '\n');
    return 0;
  } catch (const Error& e) {
    std::cerr << "bounds: " << e.what() << '\n';
    return e.exit_code();
  }
}

}  // namespace
}  // namespace erg::bench

int main(int argc, char** argv) { return erg::bench::run(argc, argv); }
