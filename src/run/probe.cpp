// One engine a thread count, each measured in turn, results added to the machine's file.
#include "run/probe.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/interrupt.hpp"
#include "data/text.hpp"
#include "probe/memory.hpp"
#include "run/build_info.hpp"
#include "run/host_facts.hpp"
#include "run/host_use.hpp"
#include "run/measure.hpp"

namespace erg {
namespace {

constexpr int schema_version = 1;
constexpr double empty_s = 0.2;

// A step of nothing: what the measuring loop itself costs.
class EmptyWorkload final : public Workload {
 public:
  void prepare() override {}
  StepResult step() override { return {1, 0}; }
  double read_loss() override { return 1; }
  Validation validate(int64_t) override { return {}; }
  double flops_per_step() const override { return 0; }
  int64_t samples_per_step() const override { return 1; }
  const char* sample_unit() const override { return "steps"; }
  std::vector<NamedNorm> gradient_norms() override { return {}; }
};

double empty_step_s(Engine& engine) {
  EmptyWorkload nothing;
  MeasureSpec spec;
  spec.warmup_min_s = 0.01;
  spec.settle_max_s = 0;
  spec.duration_s = empty_s;
  const Window w = measure_window(nothing, engine, spec, steady_clock(), {});
  return w.step_times.empty() ? 0 : w.measure_s / double(w.step_times.size());
}

Json shape_json(const GemmRate& r) {
  return {{"m", r.shape.m},
          {"n", r.shape.n},
          {"k", r.shape.k},
          {"what", r.shape.what},
          {"best_flops", r.best_flops},
          {"median_flops", r.median_flops},
          {"calls", r.calls}};
}

Json gemm_json(const GemmProbe& p) {
  Json shapes = Json::array();
  for (const GemmRate& r : p.shapes) shapes.push_back(shape_json(r));
  return {{"peak_flops", p.peak.best_flops},
          {"median_flops", p.peak.median_flops},
          {"peak_shape", shape_json(p.peak)},
          {"check", {{"passed", p.check.passed()}, {"entries", p.check.entries}, {"worst_error_of_allowed", p.check.worst}}},
          {"shapes", shapes},
          {"left_out", p.left_out}};
}

Json memory_json(const MemoryProbe& p) {
  Json j = {{"array_bytes", p.array_bytes}, {"non_temporal_stores", p.non_temporal_stores}, {"check", {{"passed", p.check_passed}}}};
  for (const StreamRate& r : p.streams)
    j[r.stream] = {{"best_bytes_per_s", r.best_bytes_per_s}, {"median_bytes_per_s", r.median_bytes_per_s}, {"calls", r.calls}};
  return j;
}

// Four times the caches, or less where three such arrays would take over half of what memory is left.
int64_t stream_array_bytes(const Json& environment) {
  constexpr int64_t unknown_cache = 64 << 20, smallest = 64 << 20;
  const Json cache = environment.at("cpu").value("last_level_cache_bytes", Json()), left = environment.at("memory").at("available_bytes");
  const int64_t wanted = 4 * (cache.is_number() ? cache.get<int64_t>() : unknown_cache);
  const int64_t most = left.is_number() ? left.get<int64_t>() / 6 : wanted;
  return std::max(smallest, std::min(wanted, most));
}

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorKind::failed, what + ": the results were wrong, so nothing was stored", "probe",
              "measure again; if it fails again, this machine or its library computes wrongly");
}

// Null when interrupted on the way.
Json measure_threads(const ProbeOptions& o, int threads, int64_t array_bytes) {
  const HostSample begin = sample_host(steady_clock());
  const auto engine = open_engine(o.device, {.device_index = 0, .threads = threads});
  const auto say = [&](const std::string& what) {
    if (o.progress) o.progress(fmt::format("probe with {} thread{}: {}", threads, threads == 1 ? "" : "s", what));
  };
  Json result = {{"threads", engine->info().threads}, {"measured", iso8601(steady_clock().wall())}, {"gemm", Json::object()}};
  for (const DType dtype : {DType::f32, DType::bf16}) {
    if (interrupted()) return nullptr;
    const std::string name(name_of(dtype));
    if (!engine->supports(dtype)) {
      result["gemm"][name] = "unavailable";
      continue;
    }
    say(name + " products");
    const GemmProbe gemm = probe_gemm(*engine, dtype, o.times, steady_clock(), o.shapes);
    if (!gemm.check.passed()) refuse(name + " products");
    result["gemm"][name] = gemm_json(gemm);
  }
  if (interrupted()) return nullptr;
  engine->release_scratch();
  say("memory");
  const MemoryProbe memory = probe_memory(*engine, array_bytes, o.stream_s, steady_clock());
  if (!memory.check_passed) refuse("streams over memory");
  result["memory"] = memory_json(memory);
  say("empty steps");
  result["empty_step_s"] = empty_step_s(*engine);
  const CallTimes call = probe_empty_call(*engine, empty_s, steady_clock());
  result["empty_call_s"] = {{"best", call.best_s}, {"median", call.median_s}, {"calls", call.calls}};
  // A peak that was measured beside other work is too low, and every share of it too high.
  result["flags"] = Json::array();
  for (const Flag& f : host_flags(begin, sample_host(steady_clock()))) result["flags"].push_back({{"code", f.code}, {"detail", f.detail}});
  return result;
}

const Json* result_of(const Json& probe, int threads) {
  if (probe.is_null()) return nullptr;
  for (const Json& r : probe.at("results"))
    if (r.at("threads") == threads) return &r;
  return nullptr;
}

// The machine's file less the thread counts that are measured anew. Then a broken file is no obstacle either.
Json known_results(const std::filesystem::path& results, const std::string& identity, const std::vector<int>& anew) {
  Json probe;
  try {
    probe = load_probe(results, identity);
  } catch (const Error&) {
    if (anew.empty()) throw;
  }
  if (probe.is_null()) return probe;
  Json kept = Json::array();
  for (const Json& r : probe.at("results"))
    if (std::find(anew.begin(), anew.end(), r.at("threads").get<int>()) == anew.end()) kept.push_back(r);
  probe["results"] = kept;
  return probe;
}

ProbePeak no_peak(const std::string& why, const EngineInfo& engine) {
  return {std::nullopt, fmt::format("{}; fix: run `ergometer probe --device {}`", why, engine.name), nullptr};
}

std::optional<double> triad_of(const Json& result) {
  const Json rate = result.value(Json::json_pointer("/memory/triad/best_bytes_per_s"), Json());
  return rate.is_number() ? std::optional(rate.get<double>()) : std::nullopt;
}

}  // namespace

Json stable_facts(const Json& environment, const EngineInfo& engine) {
  const Json &cpu = environment.at("cpu"), &limits = environment.at("limits"), total = environment.at("memory").at("total_bytes");
  Json facts;
  for (const char* key : {"model", "sockets", "cores", "threads", "instruction_sets"}) facts[key] = cpu.at(key);
  facts["allowed_cpus"] = limits.at("affinity").is_array() ? Json(limits.at("affinity").size()) : Json("unavailable");
  facts["cpu_limit"] = limits.at("cgroup_cpus");
  // In whole GiB: the kernel keeps a little more or less of it at every boot.
  facts["memory_gib"] = total.is_number() ? Json((total.get<int64_t>() + (1 << 29)) >> 30) : Json("unavailable");
  facts["engine"] = engine.name;
  facts["device"] = engine.device;
  facts["library"] = engine.library;
  facts["isa"] = engine.isa;
  return facts;
}

std::string machine_identity(const Json& facts) { return fmt::format("{:016x}", fnv1a(json_text(facts))); }

std::filesystem::path probe_path(const std::filesystem::path& results, const std::string& identity) {
  return results / "probes" / (identity + ".json");
}

Json load_probe(const std::filesystem::path& results, const std::string& identity) {
  const std::filesystem::path path = probe_path(results, identity);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return nullptr;
  const auto broken = [&](const std::string& what) {
    return Error(ErrorKind::usage, what, path.string(), "remove this file, or measure anew with ergometer probe --again");
  };
  try {
    Json probe = Json::parse(read_file(path));
    if (probe.at("schema_version") != schema_version || !probe.at("results").is_array()) throw broken("is no probe of this version");
    for (const Json& r : probe.at("results")) r.at("threads").get<int>(), r.at("gemm").at("fp32");
    return probe;
  } catch (const nlohmann::json::exception& e) { throw broken(fmt::format("is broken: {}", e.what())); }
}

std::vector<int> thread_counts(int all) {
  std::vector<int> counts;
  for (int n = 1; n < all; n *= 2) counts.push_back(n);
  counts.push_back(all);
  return counts;
}

Json probe_machine(const ProbeOptions& o, const std::filesystem::path& results) {
  const Json environment = capture_environment();
  const EngineInfo info = open_engine(o.device)->info();
  const Json facts = stable_facts(environment, info);
  const std::string identity = machine_identity(facts);
  const std::vector<int> wanted = o.threads.empty() ? thread_counts(info.threads) : o.threads;
  for (const int n : wanted)
    if (n > info.threads)
      throw Error(ErrorKind::usage, fmt::format("{} threads are more than the {} that this process may use", n, info.threads), "--threads",
                  fmt::format("use 1 to {}", info.threads));
  Json probe = known_results(results, identity, o.again ? wanted : std::vector<int>{});
  const int64_t array_bytes = o.array_bytes > 0 ? o.array_bytes : stream_array_bytes(environment);
  std::filesystem::create_directories(probe_path(results, identity).parent_path());
  for (const int threads : wanted) {
    if (result_of(probe, threads)) continue;
    Json result = measure_threads(o, threads, array_bytes);
    if (result.is_null()) break;
    if (probe.is_null())
      probe = {{"schema_version", schema_version}, {"identity", identity},    {"facts", facts}, {"device", info.device},
               {"ergometer", build_json()},        {"results", Json::array()}};
    Json& all = probe["results"];
    all.push_back(std::move(result));
    std::sort(all.begin(), all.end(), [](const Json& a, const Json& b) { return a.at("threads").get<int>() < b.at("threads").get<int>(); });
    write_file_atomically(probe_path(results, identity), json_text(probe) + "\n");  // after each: an interrupt loses one at most
  }
  return probe;
}

ProbePeak find_peak(const std::filesystem::path& results, const Json& environment, const EngineInfo& engine, DType dtype) {
  const std::string identity = machine_identity(stable_facts(environment, engine)), name(name_of(dtype));
  try {
    const Json probe = load_probe(results, identity);
    if (probe.is_null()) return no_peak("this machine has not been probed", engine);
    const Json* result = result_of(probe, engine.threads);
    if (!result) return no_peak(fmt::format("no probe with {} threads", engine.threads), engine);
    const Json gemm = result->at("gemm").value(name, Json("unavailable"));
    if (!gemm.is_object()) return no_peak(fmt::format("no probe of {} products", name), engine);
    const double flops = gemm.at("peak_flops");
    const Json& s = gemm.at("peak_shape");
    return {flops,
            {},
            {{"identity", identity},
             {"file", probe_path("", identity).string()},
             {"measured", result->at("measured")},
             {"threads", engine.threads},
             {"dtype", name},
             {"peak_flops", flops},
             {"flags", result->value("flags", Json::array())},
             {"shape", fmt::format("{} x {} x {}", s.at("m").dump(), s.at("n").dump(), s.at("k").dump())}},
            triad_of(*result)};
  } catch (const std::exception& e) { return no_peak(e.what(), engine); }
}

}  // namespace erg
