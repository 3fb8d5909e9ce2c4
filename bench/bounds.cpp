// The limit of a training step on this machine, as far as oneDNN goes: what its convolutions alone, or its matrix products alone, would
// allow if everything else were free.
//   bounds resnet50 --set workload.global_batch=32 --set workload.precision=bf16 [--each] [--json FILE|-]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/units.hpp"
#include "model/work.hpp"
#include "network_ops.hpp"
#include "primitives.hpp"
#include "probe/timing.hpp"

namespace erg::bench {
namespace {

constexpr double heat_s = 0.1, measure_s = 0.2;  // of each pass of each distinct op, at least three times

bool convolves(const OpDesc& d) { return std::holds_alternative<ConvBnDesc>(d); }
bool multiplies(const OpDesc& d) { return std::holds_alternative<LinearDesc>(d) || std::holds_alternative<ClassifierDesc>(d); }

struct Products {  // what all of them take
  double seconds = 0, flops = 0;
};

// A way to run the primitives of a network, and what one micro-batch takes so.
struct Bound {
  std::string name;
  ImageLayout layout;
  double seconds = 0;
  nlohmann::json ops = {};  // each distinct op
};

// Adds up the medians of every op that `wanted` takes, as often as the network has it.
Products add_up(Engine& engine, const std::vector<CountedOp>& ops, bool (*wanted)(const OpDesc&), Bound& bound) {
  Products sum;
  for (const auto& [desc, count] : ops) {
    if (!wanted(desc)) continue;
    Primitives primitives(engine, desc, bound.layout);
    const double forward = time_calls([&] { primitives.forward(); }, steady_clock(), heat_s, measure_s).median_s;
    const double backward = time_calls([&] { primitives.backward(); }, steady_clock(), heat_s, measure_s).median_s;
    const OpCost work = cost(desc);
    sum.seconds += double(count) * (forward + backward);
    sum.flops += double(count) * (work.flops_forward + work.flops_backward);
    bound.ops.push_back({{"op", describe(desc)},
                         {"count", count},
                         {"forward_s", forward},
                         {"backward_s", backward},
                         {"forward_flops", work.flops_forward},
                         {"backward_flops", work.flops_backward}});
  }
  bound.seconds += sum.seconds;
  return sum;
}

// All convolutions in one layout. The classifier of a ResNet is left out: 0.05 % of its work.
std::vector<Bound> convolution_bounds(Engine& engine, const std::vector<CountedOp>& ops) {
  std::vector<Bound> bounds{{"convolutions, our layout", ImageLayout::ours}, {"convolutions, NHWC", ImageLayout::nhwc}};
  for (Bound& bound : bounds) add_up(engine, ops, convolves, bound);
  return bounds;
}

// All products of linear layers and classifier on operands that lie as oneDNN likes them, and the causal half of attention's products at
// the rate of these.
std::vector<Bound> product_bounds(Engine& engine, const std::vector<CountedOp>& ops) {
  Bound bound{"products", ImageLayout::ours};
  const Products products = add_up(engine, ops, multiplies, bound);
  for (const auto& [desc, count] : ops) {
    if (!std::holds_alternative<AttentionDesc>(desc)) continue;
    const double flops = forward_work(desc).flops + backward_work(desc).flops;
    bound.seconds += double(count) * flops * products.seconds / products.flops;
  }
  return {bound};
}

nlohmann::json measure(const SpecRequest& request) {
  const Spec spec = load_spec(request);
  const std::unique_ptr<Engine> engine = open_engine("cpu");
  const DType dtype = activations_of(spec, *engine);
  const Network network = make_network(spec, dtype);
  std::vector<OpDesc> parts;
  for (const OpDesc& desc : ops_of(network))
    for (const OpDesc& part : parts_of(desc)) parts.push_back(part);
  const std::vector<CountedOp> ops = distinct_ops(parts);
  const bool images = std::any_of(parts.begin(), parts.end(), convolves);

  nlohmann::json json{{"workload", request.source},        {"micro_batch", network.micro_batch},
                      {"precision", name_of(dtype)},       {"unit", images ? "images/s" : "tokens/s"},
                      {"threads", engine->info().threads}, {"library", engine->info().library}};
  double limit = 0;
  for (const Bound& b : images ? convolution_bounds(*engine, ops) : product_bounds(*engine, ops)) {
    const double rate = double(network.samples_per_micro_batch) / b.seconds;
    json["bounds"].push_back({{"name", b.name}, {"seconds", b.seconds}, {"rate", rate}, {"ops", b.ops}});
    limit = std::max(limit, rate);
  }
  json["limit"] = limit;
  return json;
}

void print(const nlohmann::json& j, bool each) {
  const auto text = [](const nlohmann::json& value) { return value.get<std::string>(); };
  fmt::print("{}, micro-batch {}, {}, {} threads, {}\n", text(j["workload"]), j["micro_batch"].get<int64_t>(), text(j["precision"]),
             j["threads"].get<int>(), text(j["library"]));
  for (const auto& b : j["bounds"]) {
    fmt::print("{:26} {:>9}  {:>7} {}\n", text(b["name"]), duration(b["seconds"]), significant(b["rate"]), text(j["unit"]));
    if (!each) continue;
    fmt::print("  {:>10} {:>8} {:>10} {:>8}\n", "forward", "GFLOP/s", "backward", "GFLOP/s");
    for (const auto& op : b["ops"]) {
      const double forward = op["forward_s"], backward = op["backward_s"];
      fmt::print("  {:>10} {:8.0f} {:>10} {:8.0f}  {} x {}\n", duration(forward), op["forward_flops"].get<double>() / forward / 1e9,
                 duration(backward), op["backward_flops"].get<double>() / backward / 1e9, op["count"].get<int64_t>(), text(op["op"]));
    }
  }
}

int run(int argc, char** argv) {
  CLI::App app("What oneDNN's convolutions or products alone would allow: the limit of a training step");
  SpecRequest request;
  std::string json;
  bool each = false;
  app.add_option("SPEC", request.source, "A spec file, or a preset such as gpt-117m or resnet50")->required();
  app.add_option("--set", request.set, "Set a key: workload.global_batch=32; may be given often")->allow_extra_args(false);
  app.add_flag("--each", each, "Print every distinct convolution or product too");
  app.add_option("--json", json, "Write JSON to a file, or to stdout with -");
  CLI11_PARSE(app, argc, argv);
  try {
    const nlohmann::json measured = measure(request);
    if (json.empty())
      print(measured, each);
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
