// The table of keys: one row a key. Add a key here and as a field in spec.hpp, and everything else follows.
#include "spec/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>

#include "core/error.hpp"
#include "spec/key_types.hpp"
#include "spec/names.hpp"
#include "spec/presets.hpp"

namespace erg {
namespace {

// Where a key lives.
constexpr auto top(auto field) {
  return [=](auto& s) -> auto& { return s.*field; };
}
constexpr auto workload(auto field) {
  return [=](auto& s) -> auto& { return s.workload.*field; };
}
constexpr auto gpt(auto field) {
  return [=](auto& s) -> auto& { return s.workload.gpt.*field; };
}
constexpr auto resnet(auto field) {
  return [=](auto& s) -> auto& { return s.workload.resnet.*field; };
}
constexpr auto optimizer(auto field) {
  return [=](auto& s) -> auto& { return s.workload.optimizer.*field; };
}
constexpr auto layout(auto field) {
  return [=](auto& s) -> auto& { return s.layout.*field; };
}
constexpr auto measure(auto field) {
  return [=](auto& s) -> auto& { return s.measure.*field; };
}
constexpr auto energy(auto field) {
  return [=](auto& s) -> auto& { return s.energy.*field; };
}

bool any_text(const std::string&) { return true; }
bool not_empty(const std::string& text) { return !text.empty(); }
bool is_word(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-'; });
}
bool is_device(const std::string& text) {  // "cpu", "cuda:1"
  const size_t colon = text.find(':');
  const std::string index = colon == text.npos ? "0" : text.substr(colon + 1);
  return is_word(text.substr(0, colon)) && !index.empty() && index.size() < 5 &&
         std::all_of(index.begin(), index.end(), [](unsigned char c) { return std::isdigit(c); });
}

Key preset_choice(unsigned kinds, std::string doc) {
  const std::vector<std::string> words = preset_names();
  const auto set = [=](Spec& s, const TomlValue& v) {
    const auto* t = v.as<std::string>();
    if (!t || std::find(words.begin(), words.end(), *t) == words.end()) return false;
    s.workload.preset = *t;
    return true;
  };
  const auto get = [](const Spec& s) { return s.workload.preset.empty() ? std::nullopt : std::optional(value_of(s.workload.preset)); };
  return {"workload.preset", kinds, fmt::format("one of {}", fmt::join(words, ", ")), doc, words, true, set, get};
}

// Upper limits keep products such as batch x sequence x hidden inside 64 bits.
constexpr int64_t batches = int64_t(1) << 22, parallel = 1 << 16, steps = 1'000'000'000, any = std::numeric_limits<int64_t>::max();
constexpr double long_s = 1e7;

std::vector<Key> make_table() {
  using W = WorkloadSpec;
  using G = GptShape;
  using R = ResNetShape;
  using O = OptimizerSpec;
  using L = LayoutSpec;
  using M = MeasureSpec;
  const auto closed = Ends::closed;
  return {
      text("name", top(&Spec::name), any_text, "a string", for_all, "what this run or sweep is called; default: the file or preset"),
      text("device", top(&Spec::device), is_device, "an engine and perhaps its index, such as cpu or cuda:1", for_all,
           "where to run: engine[:index]"),
      integer("devices", top(&Spec::devices), 1, 1 << 20, for_all, "how many; on a CPU a device is one rank with its share of the cores"),
      integer("repeat_index", top(&Spec::repeat_index), 0, 1'000'000, for_all, "which repetition this is; set by sweeps"),

      preset_choice(for_training, "a ready-made workload; other keys change it"),
      choice("workload.kind", workload(&W::kind), workload_kinds, for_all, "what is trained; a preset implies it"),
      choice("workload.precision", workload(&W::precision), precisions, for_all,
             "of compute; auto: bf16 where the device has it, else fp32"),
      choice("workload.gradients", workload(&W::gradients), gradient_types, for_training, "type in which gradients are stored"),
      integer("workload.global_batch", workload(&W::global_batch), 1, batches, for_all,
              "sequences or images per optimizer step, over all devices"),
      integer("workload.micro_batch", workload(&W::micro_batch), 0, batches, for_all,
              "of it at a time on one device; 0: global_batch / data-parallel size"),
      text("workload.data", workload(&W::data), not_empty, "synthetic or a path", for_training,
           "synthetic, a folder of images or made by `ergometer data`, or token files (data.md)"),
      integer("workload.workers", workload(&W::workers), 0, 1024, for_training, "threads that prepare batches; 0: chosen"),
      integer("workload.validation_steps", workload(&W::validation_steps), 0, 1'000'000, for_training,
              "micro-batches of held-back data after the window"),
      integer("workload.seed", workload(&W::seed), 0, any, for_training, "of initial weights, synthetic data and order"),

      integer("workload.layers", gpt(&G::layers), 1, 10'000, for_gpt, "transformer blocks"),
      integer("workload.hidden", gpt(&G::hidden), 1, 1 << 17, for_gpt, "width of the residual stream"),
      integer("workload.heads", gpt(&G::heads), 1, 1 << 12, for_gpt, "attention heads; they divide hidden"),
      integer("workload.ffn", gpt(&G::ffn), 1, 1 << 19, for_gpt, "feed-forward width; default: 4 x hidden"),
      integer("workload.vocabulary", gpt(&G::vocabulary), 2, 1 << 24, for_gpt, "tokens the tokenizer has; padded to a multiple of 128"),
      integer("workload.sequence", gpt(&G::sequence), 1, 1 << 20, for_gpt, "tokens per sequence"),
      choice("workload.positions", gpt(&G::positions), position_kinds, for_gpt, "how positions enter"),

      integer("workload.image_size", resnet(&R::image_size), 8, 8192, for_resnet, "pixels a side"),
      integer("workload.classes", resnet(&R::classes), 2, 1 << 20, for_resnet, "classes of the head"),
      integer("workload.width", resnet(&R::width), 1, 1024, for_resnet, "channels after the stem; 64 in ResNet-50"),
      list<int64_t>(
          "workload.blocks", resnet(&R::blocks), [](const int64_t& n) { return 1 <= n && n <= 1000; }, "a list of integers from 1 to 1000",
          for_resnet, "bottlenecks per stage; [3, 4, 6, 3] in ResNet-50"),

      number("workload.learning_rate", optimizer(&O::learning_rate), 0, 100, Ends::open_low, for_training,
             "peak; default: by preset, or 0.001 x min(global_batch, 32) for ResNet"),
      number("workload.weight_decay", optimizer(&O::weight_decay), 0, 100, closed, for_training, "of matrices"),
      number("workload.momentum", optimizer(&O::momentum), 0, 1, Ends::open_high, for_resnet, "of SGD"),
      number("workload.beta1", optimizer(&O::beta1), 0, 1, Ends::open_high, for_gpt, "of AdamW"),
      number("workload.beta2", optimizer(&O::beta2), 0, 1, Ends::open_high, for_gpt, "of AdamW"),
      number("workload.epsilon", optimizer(&O::epsilon), 0, 1, Ends::open_low, for_gpt, "of AdamW"),
      number("workload.clip", optimizer(&O::clip), 0, 1e9, closed, for_gpt, "largest gradient norm; 0: no clipping"),
      number("workload.label_smoothing", optimizer(&O::label_smoothing), 0, 1, Ends::open_high, for_resnet,
             "share of the target spread over all classes"),
      integer("workload.warmup_steps", optimizer(&O::warmup_steps), 0, steps, for_training,
              "steps over which the learning rate rises linearly"),
      integer("workload.total_steps", optimizer(&O::total_steps), 0, steps, for_training, "where its cosine reaches a tenth; 0: constant"),

      integer("layout.tp", layout(&L::tp), 1, parallel, for_gpt | for_external, "tensor-parallel size; data parallel is what remains"),
      integer("layout.pp", layout(&L::pp), 1, parallel, for_gpt | for_external, "pipeline stages"),
      integer("layout.zero", layout(&L::zero), 0, 1, for_gpt | for_external,
              "1: optimizer state is sharded over data-parallel ranks (ZeRO-1)"),
      integer("layout.interleave", layout(&L::interleave), 1, parallel, for_gpt | for_external, "model chunks per pipeline stage"),
      boolean("layout.sequence_parallel", layout(&L::sequence_parallel), for_gpt | for_external,
              "splits norms and dropout over tensor-parallel ranks"),
      choice("layout.recompute", layout(&L::recompute), recompute_kinds, for_gpt | for_external,
             "what backward computes again instead of keeping"),

      number("measure.max_time_s", measure(&M::max_time_s), 0, long_s, Ends::open_low, for_all, "longest measured window"),
      number("measure.settle_max_s", measure(&M::settle_max_s), 0, long_s, closed, for_all,
             "longest settling; default: min(60, max_time_s / 2)"),
      number("measure.warmup_min_s", measure(&M::warmup_min_s), 0, long_s, closed, for_all, "shortest warm-up"),
      number("measure.min_time_s", measure(&M::min_time_s), 0, long_s, closed, for_all, "shortest measured window"),
      number("measure.duration_s", measure(&M::duration_s), 0, long_s, closed, for_all, "above 0: the window lasts exactly this long"),
      integer("measure.repeat", measure(&M::repeat), 1, 1000, for_all, "runs of every point, each in a new process"),
      number("measure.hang_min_s", measure(&M::hang_min_s), 0, long_s, Ends::open_low, for_all,
             "no step for so long, and for 10 median steps: TIMEOUT"),
      number("measure.limit_s", measure(&M::limit_s), 0, long_s, closed, for_all, "longest whole run, every phase: then TIMEOUT; 0: none"),
      boolean("measure.check", measure(&M::check), for_training, "three steps against stored reference losses before the run"),

      list<std::string>("energy.methods", energy(&EnergySpec::methods), is_word, "a list of words", for_all,
                        "sensors to read: auto, none or their names"),
      number("energy.interval_ms", energy(&EnergySpec::interval_ms), 1, 60'000, closed, for_all, "time between two readings"),
  };
}

}  // namespace

const std::vector<Key>& spec_keys() {
  static const std::vector<Key> table = make_table();
  return table;
}

bool is_key_table(const std::string& name) {
  const auto& keys = spec_keys();
  return std::any_of(keys.begin(), keys.end(), [&](const Key& k) { return k.table() == name + "."; });
}

const Key& find_key(const std::string& name, const std::string& where) {
  const auto& keys = spec_keys();
  for (const Key& k : keys)
    if (k.name == name || (name.find('.') == name.npos && k.leaf() == name)) return k;

  // A slip inside the right table first, then a key of another table.
  const std::string table = name.substr(0, name.find('.') + 1), leaf = name.substr(name.find('.') + 1);
  std::vector<std::string> beside, everywhere;
  for (const Key& k : keys) {
    everywhere.push_back(k.leaf());
    if (k.table() == table) beside.push_back(k.leaf());
  }
  std::string nearest = nearest_name(leaf, beside);
  if (nearest.empty()) nearest = nearest_name(leaf, everywhere);
  const auto meant = std::find_if(keys.begin(), keys.end(), [&](const Key& k) { return k.leaf() == nearest; });
  throw Error(ErrorKind::usage, fmt::format("unknown key {}", shortened(name)), where,
              meant != keys.end() ? fmt::format("did you mean {}?", meant->name)
                                  : fmt::format("the keys are {}", fmt::join(beside.empty() || table.empty() ? everywhere : beside, ", ")));
}

std::string keys_markdown() {
  std::string out = "| key | for | takes | meaning |\n| --- | --- | --- | --- |\n";
  for (const Key& k : spec_keys()) {
    std::vector<std::string> kinds;
    for (const auto& [name, kind] : workload_kinds)
      if (k.used_by(kind)) kinds.push_back(name);
    out += fmt::format("| `{}` | {} | {} | {} |\n", k.name, k.kinds == for_all ? "all" : fmt::format("{}", fmt::join(kinds, ", ")), k.type,
                       k.doc);
  }
  return out;
}

}  // namespace erg
