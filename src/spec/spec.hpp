// What to measure, typed and validated: the result of reading a spec file, presets and --set flags (DESIGN §5).
// Every key of the TOML file is one field here, under the same name.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/dtype.hpp"

namespace erg {

enum class WorkloadKind { gpt, resnet50, external };
enum class Precision { automatic, fp32, tf32, bf16, fp16 };  // automatic: bf16 where the device has it natively, else fp32
enum class Positions { learned, rope };
enum class Recompute { none, selective, full };

const char* name_of(WorkloadKind);
const char* name_of(Precision);
const char* name_of(Positions);
const char* name_of(Recompute);

struct GptShape {
  int64_t layers = 12, hidden = 768, heads = 12, ffn = 3072;  // ffn unset: 4 x hidden
  int64_t vocabulary = 50257;                                 // as the tokenizer has it
  int64_t padded_vocabulary = 50304;                          // next multiple of 128
  int64_t sequence = 1024;
  Positions positions = Positions::learned;
  bool operator==(const GptShape&) const = default;
};

struct ResNetShape {
  int64_t image_size = 224, classes = 1000, width = 64;  // width: channels after the stem; tests use 16
  std::vector<int64_t> blocks = {3, 4, 6, 3};
  bool operator==(const ResNetShape&) const = default;
};

struct OptimizerSpec {
  double learning_rate = 0, weight_decay = 0, momentum = 0.9, beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8;
  double clip = 0;  // largest gradient norm; 0: no clipping
  double label_smoothing = 0;
  int64_t warmup_steps = 0, total_steps = 0;  // linear warm-up, then cosine to a tenth at total_steps (constant when 0)
  bool operator==(const OptimizerSpec&) const = default;
};

struct WorkloadSpec {
  std::string preset;
  WorkloadKind kind = WorkloadKind::gpt;
  Precision precision = Precision::automatic;
  DType gradients = DType::f32;    // of the flat gradient storage: "bf16" or "fp32"
  int64_t global_batch = 1;        // sequences or images per optimizer step, over all devices
  int64_t micro_batch = 0;         // 0: global batch / data-parallel size
  std::string data = "synthetic";  // or what docs/data.md says
  int64_t workers = 0;             // prefetch threads; 0: chosen
  int64_t validation_steps = 4;    // micro-batches of held-back data after the window; 0: none
  uint64_t seed = 1;
  GptShape gpt;
  ResNetShape resnet;
  OptimizerSpec optimizer;
  bool operator==(const WorkloadSpec&) const = default;
};

struct LayoutSpec {
  int64_t tp = 1, pp = 1, zero = 0, interleave = 1;
  bool sequence_parallel = false;
  Recompute recompute = Recompute::none;
  bool operator==(const LayoutSpec&) const = default;
};

struct MeasureSpec {
  double max_time_s = 120;
  std::optional<double> settle_max_s;  // unset: min(60, max_time_s / 2)
  double warmup_min_s = 2, duration_s = 0;
  double min_time_s = 10;  // shortest window
  int64_t repeat = 1;
  bool check = true;       // the three steps against stored reference losses
  double hang_min_s = 60;  // no step for so long, and for 10 median steps: the run hangs
  double limit_s = 0;      // of the whole run, every phase; 0: none
  double settle_limit() const { return settle_max_s ? *settle_max_s : (max_time_s / 2 < 60 ? max_time_s / 2 : 60); }
  // Of warm-up, settling and window together; init, check and validation come on top.
  double longest() const { return warmup_min_s + settle_limit() + (duration_s > 0 ? duration_s : max_time_s); }
  bool operator==(const MeasureSpec&) const = default;
};

struct EnergySpec {
  std::vector<std::string> methods = {"auto"};
  double interval_ms = 50;
  bool operator==(const EnergySpec&) const = default;
};

struct Spec {
  std::string name;
  std::string device = "cpu";  // engine[:index]
  int64_t devices = 1;
  WorkloadSpec workload;
  LayoutSpec layout;
  MeasureSpec measure;
  EnergySpec energy;
  std::vector<std::pair<std::string, std::string>> labels;
  int64_t repeat_index = 0;  // which of measure.repeat this point is; set by sweeps
  bool operator==(const Spec&) const = default;
};

// One axis of a sweep: a dotted key ("workload.global_batch", or bare "global_batch") and its values as text.
struct Axis {
  std::string key;
  std::vector<std::string> values;
};

// A point of a sweep: the spec, or why it can't be run (status SKIPPED).
struct SweepPoint {
  Spec spec;
  std::string skip_reason;                                       // empty: run it
  std::vector<std::pair<std::string, std::string>> coordinates;  // axis key, value
};

struct SpecRequest {
  std::string source;                      // a path, or a preset's name
  std::vector<std::string> set;            // "workload.global_batch=64", or bare "global_batch=64"
  std::vector<std::string> axes;           // "global_batch=16,32-2048*2" ; also first-last+step
  std::vector<std::string> labels;         // "k=v"
  std::vector<std::string> zips = {};      // "global_batch,micro_batch"
  std::vector<std::string> excludes = {};  // "global_batch > 512 and devices == 1"
  std::vector<std::string> computes = {};  // "micro_batch=global_batch / devices"
};

// Reads one spec for `run`, checked by validate() and validate_runnable(): axes are not allowed. Throws Error(usage) with file:line:column,
// the key and the nearest valid name.
Spec load_spec(const SpecRequest& request);
// Reads a spec file for `sweep`: the cross product of its axes, the last one fastest (zipped axes are one), without the excluded points,
// for every [[sweep]] table if it has some; repeats are interleaved over points. A [[sweep]] table overlays the tables above it, and flags
// overlay both; a later value takes the place of an earlier axis of the same key. What validate() or validate_runnable() refuses, and what
// has no computed value, is a skipped point.
std::vector<SweepPoint> load_sweep(const SpecRequest& request);

std::vector<std::string> preset_names();
// Throws Error(usage) when values contradict each other: a batch that does not divide, heads that do not divide hidden, ...
// Its where() is the key at fault.
void validate(const Spec& spec);
// Throws Error(usage) for what can be written in a spec and planned, but not yet run by this build.
void validate_runnable(const Spec& spec);

// "global_batch=16,32-2048*2" -> its key and values; ranges are first-last*factor and first-last+step. Throws Error(usage).
Axis parse_axis(const std::string& text, const std::string& where = {});
// Every key of a spec file as a Markdown table, from the table that parsing itself follows (spec/keys.cpp).
std::string keys_markdown();

std::string to_toml(const Spec& spec);  // canonical text: every key its workload uses, fixed order; load_spec of it gives the same Spec
Spec spec_from_toml(const std::string& toml, const std::string& where);  // what to_toml wrote, unchecked. Throws Error(usage)
std::string to_json(const Spec& spec);                                   // the same as JSON, for the record
std::string spec_hash(const Spec& spec);  // 16 hex digits of the canonical text without labels and repeat index

}  // namespace erg
