// One run from spec to record (DESIGN §1): plan, engine, check, workload, window, validation, verdict.
#include <fmt/format.h>

#include <cmath>
#include <new>
#include <optional>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/interrupt.hpp"
#include "core/stats.hpp"
#include "run/build_info.hpp"
#include "run/data_json.hpp"
#include "run/energy.hpp"
#include "run/host_facts.hpp"
#include "run/host_use.hpp"
#include "run/measure.hpp"
#include "run/profile.hpp"
#include "run/results.hpp"
#include "run/step_watch.hpp"
#include "run/verdict.hpp"
#include "run/watch_run.hpp"
#include "store/plan_json.hpp"
#include "store/process_id.hpp"
#include "store/store.hpp"
#include "workload/check.hpp"

namespace erg {
namespace {

constexpr double resident_interval_s = 0.1;

// Seconds since it was made or last asked.
class Stopwatch {
 public:
  double lap() {
    const double now = steady_clock().now();
    return now - std::exchange(last_, now);
  }

 private:
  double last_ = steady_clock().now();
};

// Mean resident set, read at most ten times a second from inside the loop's progress calls.
class ResidentMean {
 public:
  void sample() {
    const double now = steady_clock().now();
    if (now - last_ < resident_interval_s) return;
    last_ = now;
    sum_ += double(resident_bytes());
    ++count_;
  }
  double value() const { return count_ ? sum_ / double(count_) : 0; }

 private:
  double last_ = -1, sum_ = 0;
  int64_t count_ = 0;
};

Record begin_record(const Spec& spec, const Store& store, const RunOptions& options) {
  Record r;
  r.id = options.id.empty() ? store.new_id() : options.id;
  r.started = iso8601(steady_clock().wall());
  r.spec = Json::parse(to_json(spec));
  r.spec_hash = spec_hash(spec);
  r.sweep_id = options.sweep_id;
  r.coordinates = options.coordinates;
  r.environment = capture_environment();
  r.energy = energy_json({}, {});
  r.phases = Json::object();
  r.repro = repro_line(spec);
  r.process = this_process();
  if (!options.sweep_process.is_null()) r.process["sweep"] = options.sweep_process;
  return r;
}

std::vector<Flag> machine_flags() {
  std::vector<Flag> flags;
  if (build_info().debug) flags.push_back({"debug_build", fmt::format("built as {} {}", build_info().build_type, build_info().sanitizers)});
  if (const std::string g = governor(); g != "unavailable" && g != "performance")
    flags.push_back({"governor", "the CPU frequency governor is " + g});
  return flags;
}

// A processor's declared peak is that of a whole socket; this run may have some of its cores, with a thread on each.
Plan plan_on(const Spec& spec, const EngineInfo& info, const Json& environment) {
  const Json& cpu = environment.at("cpu");
  const bool processor = info.name == "cpu" && cpu.at("cores").is_number() && cpu.at("sockets").is_number();
  const double share = processor ? info.threads * cpu.at("sockets").get<double>() / cpu.at("cores").get<double>() : 1;
  Plan plan = make_plan(spec, info.native_bf16, info.device, share);
  if (info.name == "cpu" && plan.peak_flops && environment.at("host").at("virtual_machine") != "no") {
    plan.peak_flops.reset();
    plan.peak_source = "a virtual machine does not say which part of the processor it has";
  }
  return plan;
}

CheckResult check_phase(const Spec& spec, const Plan& plan, Engine& engine) {
  if (spec.measure.check) return check_workload(spec, plan.dtype, engine);
  CheckResult skipped;
  skipped.detail = "the check was switched off (measure.check = false)";
  return skipped;
}

void add_flags(std::vector<Flag>& to, const std::vector<Flag>& from) { to.insert(to.end(), from.begin(), from.end()); }

class Run {
 public:
  Run(const Spec& spec, const RunOptions& options, const std::filesystem::path& results, Record& record)
      : spec_(spec), options_(options), results_(results), record_(record) {}

  void operator()() {
    report("init");
    const auto engine = open_engine(spec_.device);
    const EngineInfo info = engine->info();
    record_.environment["engine"] = engine_json(info);
    const Plan plan = plan_on(spec_, info, record_.environment);
    record_.plan = plan_json(plan);
    measured_.probe = find_peak(results_, record_.environment, info, plan.dtype);
    record_.probe = measured_.probe.source;
    record_.energy = energy_json({}, energy_.unavailable());
    measured_.threads = info.threads;
    phase("init_s");

    report("check");
    const CheckResult check = check_phase(spec_, plan, *engine);
    record_.check = check_json(check);
    phase("check_s");

    // Everything is made anew, and its peaks are the run's own.
    report("init");
    engine->release_scratch();
    engine->reset_memory_peak();
    reset_peak_resident();
    const auto workload = make_workload(spec_, plan, *engine);
    workload->prepare();
    measured_.sample_unit = workload->sample_unit();
    record_.data = data_json(workload->data());
    phase("init_s");

    measure(*workload, *engine);
    measure_energy();
    profile(*workload, *engine);
    validate(*workload);
    record_.data = data_json(workload->data());
    conclude(plan, check);
  }

 private:
  void measure(Workload& workload, Engine& engine) {
    ResidentMean resident;
    const Progress progress = [&](const std::string& phase, double fraction, const std::string& detail) {
      if (phase == "measure") resident.sample();
      if (options_.progress) options_.progress(phase, fraction, detail);
    };
    StepWatch watch(steady_clock());
    // Sensors innermost: nothing lies between their readings and the window.
    const WindowEdges edges = {[&] {
                                 measured_.begin = sample_host(steady_clock());
                                 watch.begin();
                                 energy_.begin();
                               },
                               [&] {
                                 energy_.end();
                                 watch.end();
                                 measured_.end = sample_host(steady_clock());
                               },
                               [&] { watch.step(); }};
    energy_.start(spec_.measure.warmup_min_s);
    measured_.window = measure_window(workload, engine, spec_.measure, steady_clock(), progress, edges);
    measured_.step_host = watch.steps();
    measured_.mean_resident_bytes = resident.value();
    measured_.peak_arena_bytes = engine.memory_peak();
    measured_.peak_resident_bytes = peak_resident_bytes();
    watch_.lap();
  }

  void measure_energy() {
    if (measured_.window.stopped_by != "interrupted") energy_.cool();
    measured_.energy = energy_.result();
    record_.energy = energy_json(measured_.energy, energy_.unavailable());
    phase("cool_s");
  }

  void profile(Workload& workload, Engine& engine) {
    if (!options_.profile || measured_.window.step_times.empty() || interrupted()) return;
    report("profile");
    const Profile profile = profile_steps(workload, engine, steady_clock());
    record_.profile = profile_json(profile, measured_.probe, median(measured_.window.step_times));
    try {
      write_file_atomically(results_ / record_.id / "trace.json", json_text(chrome_trace(profile, record_.id)) + "\n");
    } catch (const Error& e) { record_.flags.push_back({"no_trace", e.what()}); }  // what was measured does not depend on it
    phase("profile_s");
  }

  void validate(Workload& workload) {
    const int64_t steps = spec_.workload.validation_steps;
    if (steps == 0)
      measured_.no_validation = "not asked for (workload.validation_steps = 0)";
    else if (measured_.window.stopped_by == "interrupted")
      measured_.no_validation = "the run was interrupted";
    else if (measured_.window.stopped_by == "loss_not_finite")
      measured_.no_validation = "the training loss is not finite";
    else {
      report("validate");
      measured_.validation = workload.validate(steps);
      phase("validation_s");
    }
  }

  void conclude(const Plan& plan, const CheckResult& check) {
    const Window& w = measured_.window;
    for (const auto& [name, value] : {std::pair{"warmup_s", w.warmup_s}, {"settle_s", w.settle_s}, {"measure_s", w.measure_s}})
      record_.phases[name] = value;
    record_.phases["warmup_steps"] = w.warmup_steps;
    record_.phases["settle_steps"] = w.settle_steps;
    record_.phases["measure_steps"] = w.step_times.size();
    record_.phases["stopped_by"] = w.stopped_by;
    record_.step_times = w.step_times;
    record_.losses = w.losses;
    record_.metrics = run_metrics(spec_, plan, measured_);
    record_.statistics = window_statistics(measured_);

    Verdict losses = judge_losses(w.all_losses, double(softmax_classes(spec_.workload))), checked = judge_check(check);
    if (measured_.validation && !std::isfinite(measured_.validation->loss) && losses.invalid.empty())
      losses.invalid = "the validation loss is not finite";
    if (measured_.validation)
      add_flags(losses.flags, judge_validation(measured_.validation->loss, double(softmax_classes(spec_.workload))));
    const std::string invalid = checked.invalid.empty() ? losses.invalid : checked.invalid;
    for (const auto& flags : {w.flags, window_flags(measured_), probe_flags(record_.metrics), energy_flags(measured_.energy),
                              host_flags(measured_.begin, measured_.end), machine_flags(), checked.flags, losses.flags})
      add_flags(record_.flags, flags);
    if (!invalid.empty()) withhold_speed(record_.metrics, invalid);

    record_.status = w.stopped_by == "interrupted" ? Status::interrupted : invalid.empty() ? Status::passed : Status::invalid;
    record_.status_reason = record_.status == Status::interrupted ? "interrupted by a signal" : invalid;
  }

  void phase(const char* name) { record_.phases[name] = record_.phases.value(name, 0.0) + watch_.lap(); }
  void report(const char* phase) {
    if (options_.progress) options_.progress(phase, 0, "");
  }

  const Spec& spec_;
  const RunOptions& options_;
  const std::filesystem::path& results_;
  Record& record_;
  Stopwatch watch_;
  Measurements measured_;
  EnergyWatch energy_{spec_.energy};
};

void fail(Record& record, Status status, const std::string& reason, const std::string& kind) {
  record.status = status;
  record.status_reason = reason;
  record.error_kind = kind;
}

const char* kind_name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage: return "usage";
    case ErrorKind::failed: return "failed";
    case ErrorKind::unavailable: return "unavailable";
    case ErrorKind::out_of_memory: return "out_of_memory";
  }
  return "failed";
}

}  // namespace

Record run_once(const Spec& spec, Store& store, const RunOptions& options) {
  Record record = begin_record(spec, store, options);
  store.save(record);
  const auto watchdog = watch_run(spec, record, store);
  RunOptions watched = options;
  watched.progress = watched_by(*watchdog, options.progress);
  try {
    Run(spec, watched, store.folder(), record)();
  } catch (const Error& e) {
    fail(record, e.kind() == ErrorKind::out_of_memory ? Status::oom : Status::failed, e.what(), kind_name(e.kind()));
  } catch (const std::bad_alloc&) {
    fail(record, Status::oom, "the host ran out of memory", kind_name(ErrorKind::out_of_memory));
  } catch (const std::exception& e) { fail(record, Status::failed, e.what(), kind_name(ErrorKind::failed)); }
  watchdog->stop();
  store.save(record);
  return record;
}

}  // namespace erg
