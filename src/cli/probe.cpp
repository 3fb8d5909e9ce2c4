// `ergometer probe`: what this machine reaches when it does nothing else: products, memory, and the cost of nothing.
#include "run/probe.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "core/interrupt.hpp"
#include "core/terminal.hpp"
#include "core/units.hpp"
#include "store/store.hpp"

namespace erg {
namespace {

std::string rate(const Json& j, const char* best, const char* median, const char* unit) {
  return j.is_object() ? fmt::format("{} ({})", si(j.at(best), unit), si(j.at(median), unit)) : "n/a";
}

std::string probe_table(const Json& probe) {
  std::vector<Table::Column> columns = {{"", false}};
  for (const Json& r : probe.at("results"))
    columns.push_back({fmt::format("{} thread{}", r.at("threads").dump(), r.at("threads") == 1 ? "" : "s")});
  Table table(columns);
  const auto row = [&](const std::string& name, auto cell) {
    std::vector<std::string> cells = {name};
    for (const Json& r : probe.at("results")) cells.push_back(cell(r));
    table.add(std::move(cells));
  };
  for (const std::string dtype : {"fp32", "bf16"}) {
    row(dtype + " products", [&](const Json& r) { return rate(r.at("gemm").at(dtype), "peak_flops", "median_flops", "FLOP/s"); });
    row("  their shape", [&](const Json& r) {
      const Json& g = r.at("gemm").at(dtype);
      if (!g.is_object()) return std::string("n/a");
      const Json& s = g.at("peak_shape");
      return fmt::format("{} x {} x {}", s.at("m").dump(), s.at("n").dump(), s.at("k").dump());
    });
  }
  for (const std::string stream : {"fill", "read", "copy", "triad"})
    row("memory, " + stream,
        [&](const Json& r) { return rate(r.at("memory").at(stream), "best_bytes_per_s", "median_bytes_per_s", "B/s"); });
  row("empty step", [](const Json& r) { return duration(r.at("empty_step_s")); });
  row("empty call", [](const Json& r) { return duration(r.at("empty_call_s").at("median")); });
  return table.text();
}

struct ProbeCommand {
  ProbeOptions options;
  std::string results, json;

  void operator()() {
    const Store store(results);
    StatusLine status;
    options.progress = [&](const std::string& text) { status.update(text); };
    const Json probe = probe_machine(options, store.folder());
    status.clear();
    if (probe.is_null()) exit_with(130);
    if (!write_json(probe, json))
      fmt::print("{}, {}\n{}best (median); every product and stream was checked. Arrays of {}, stores {} the caches\nkept in {}\n",
                 field(probe, "device"), probe.at("facts").at("library").get<std::string>(), probe_table(probe),
                 bytes_text(memory(probe).at("array_bytes")), memory(probe).at("non_temporal_stores") == true ? "past" : "through",
                 probe_path(store.folder(), field(probe, "identity")).string());
    for (const Json& r : probe.at("results"))
      for (const Json& f : r.at("flags"))
        fmt::print(stderr, "ergometer: warning: threads {}, {}: {}; measure anew on a quiet machine with --again\n", r.at("threads").dump(),
                   field(f, "code"), field(f, "detail"));
    if (interrupted()) exit_with(130);
  }

 private:
  static std::string field(const Json& probe, const char* key) { return probe.at(key); }
  static const Json& memory(const Json& probe) { return probe.at("results").back().at("memory"); }
};

}  // namespace

void register_probe(CLI::App& app) {
  CLI::App& command =
      *app.add_subcommand("probe", "Measure this machine's peaks once: products, memory, overheads; runs are held against them");
  auto probe = std::make_shared<ProbeCommand>();
  command.add_option("--device", probe->options.device, "What to measure: cpu, ref")->capture_default_str();
  command.add_option("--threads", probe->options.threads, "Thread counts, such as 1,2,4; unset: powers of two and all that are allowed")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096));
  command.add_flag("--again", probe->options.again, "Measure anew what is known already");
  add_results_option(command, probe->results);
  add_json_option(command, probe->json);
  command.callback([probe] { (*probe)(); });
}

}  // namespace erg
