// Reading documents into settings, and building a Spec from settings.
#include "spec/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/error.hpp"
#include "core/file.hpp"
#include "spec/names.hpp"
#include "spec/presets.hpp"

namespace erg {
namespace {

// A value as it stands in a flag: keys that take strings take it as it is, quotes or not.
Setting flag_setting(const Key& key, const std::string& text, const std::string& where) {
  const bool literal = key.text && !(text.size() > 1 && (text[0] == '"' || text[0] == '\''));
  TomlValue value = parse_toml_value(text, where);
  if (literal && !value.as<std::string>()) value.data = text;
  return {&key, value, where};
}

SettingAxis axis_from_text(const Axis& axis, const std::string& where) {
  const Key& key = find_key(axis.key, where);
  SettingAxis result{&key, {}};
  for (const std::string& value : axis.values) result.values.push_back(flag_setting(key, value, where));
  return result;
}

Error bad_zip(const std::string& where) {
  return Error(ErrorKind::usage, "zip takes lists of axes", where, "write zip = [[\"global_batch\", \"micro_batch\"]]");
}

Zip zip_of(const std::vector<std::string>& names, const std::string& where) {
  Zip zip{{}, where};
  for (const std::string& name : names) {
    const Key& key = find_key(name, where);
    if (std::find(zip.keys.begin(), zip.keys.end(), &key) != zip.keys.end())
      throw Error(ErrorKind::usage, fmt::format("{} stands in this zip twice", key.name), where);
    zip.keys.push_back(&key);
  }
  if (zip.keys.size() < 2) throw bad_zip(where);
  return zip;
}

Computed computed_of(const std::string& name, const std::string& text, const std::string& where) {
  const Key& key = find_key(name, where);
  const auto usual = key.get(Spec{});
  if (!usual || (!usual->as<int64_t>() && !usual->as<double>()))
    throw Error(ErrorKind::usage, fmt::format("{} cannot be computed: it takes {}", key.name, key.type), where);
  return {&key, text, parse_formula(text, where), where};
}

// A formula sees the values given and those computed before it.
void require_order(const std::vector<Computed>& computed) {
  for (auto c = computed.begin(); c != computed.end(); ++c) {
    std::vector<const Key*> named;
    c->formula.add_keys(named);
    for (auto later = c; later != computed.end(); ++later)
      if (std::find(named.begin(), named.end(), later->key) != named.end())
        throw Error(
            ErrorKind::usage,
            fmt::format("{} is computed from {}, which is {}", c->key->name, later->key->name, later == c ? "itself" : "computed after it"),
            c->where, later == c ? "" : fmt::format("move {} up", later->key->name));
  }
}

constexpr size_t largest_spec = 64'000'000;  // bytes; an endless input such as /dev/zero ends here

class Reader {
 public:
  explicit Reader(const std::string& source) : source_(source) {}

  Document document(const TomlTable& table, bool may_have_sweeps) const {
    Document d;
    for (const TomlEntry& e : table) {
      const std::string where = place_text(source_, e.place);
      if (e.key == "axes") {
        axes(table_of(e), "", d);
      } else if (e.key == "compute") {
        computed(table_of(e), "", d);
      } else if (e.key == "labels") {
        for (const TomlEntry& label : table_of(e)) d.labels.emplace_back(label.key, text_of(label));
      } else if (e.key == "sweep" && may_have_sweeps) {
        d.sweeps = sweeps(e);
      } else if (is_key_table(e.key)) {
        for (const TomlEntry& inner : table_of(e)) settings(inner, e.key + "." + inner.key, d);
      } else if (is_table(e.value)) {
        const std::vector<std::string> tables = {"workload", "layout", "measure", "energy", "axes", "compute", "labels", "sweep"};
        const std::string nearest = nearest_name(e.key, tables);
        throw Error(ErrorKind::usage, fmt::format("unknown table {}", shortened(e.key)), where,
                    nearest.empty() ? fmt::format("the tables are {}", fmt::join(tables, ", ")) : fmt::format("did you mean {}?", nearest));
      } else {
        settings(e, e.key, d);
      }
    }
    return d;
  }

 private:
  // Bare names are for flags and axes; in a file a key stands in its table.
  void settings(const TomlEntry& entry, const std::string& name, Document& d) const {
    const std::string where = place_text(source_, entry.place);
    const Key& key = find_key(name, where);
    if (key.name != name)
      throw Error(ErrorKind::usage, fmt::format("{} is not a key of the top level", name), where, fmt::format("write it as {}", key.name));
    d.settings.push_back({&key, entry.value, where});
  }

  void axes(const TomlTable& table, const std::string& prefix, Document& d) const {
    for (const TomlEntry& e : table) {
      const std::string name = prefix + e.key, where = place_text(source_, e.place);
      if (name == "zip" || name == "exclude") {
        if (name == "zip")
          zips(e, d);
        else
          exclusions(e, d);
        continue;
      }
      if (const auto* inner = e.value.as<TomlTable>()) {
        axes(*inner, name + ".", d);  // workload.global_batch = [...]
        continue;
      }
      const Key& key = find_key(name, where);
      if (std::any_of(d.axes.begin(), d.axes.end(), [&](const SettingAxis& a) { return a.key == &key; }))
        throw Error(ErrorKind::usage, fmt::format("{} is given as an axis twice", key.name), where, "put all values into one list");
      if (const auto* text = e.value.as<std::string>()) {
        d.axes.push_back(axis_from_text(parse_axis(name + "=" + *text, where), where));
      } else {
        SettingAxis axis{&key, {}};
        const TomlArray alone = {e.value};
        const auto* array = e.value.as<TomlArray>();
        for (const TomlValue& v : array ? *array : alone) axis.values.push_back({&key, v, place_text(source_, v.place)});
        if (axis.values.empty()) throw Error(ErrorKind::usage, fmt::format("axis {} has no values", name), where);
        d.axes.push_back(std::move(axis));
      }
    }
  }

  // zip = [["global_batch", "micro_batch"], …], or one list of names alone.
  void zips(const TomlEntry& entry, Document& d) const {
    const std::string where = place_text(source_, entry.place);
    const auto* groups = entry.value.as<TomlArray>();
    const TomlArray alone = {entry.value};
    const bool names_alone = groups && !groups->empty() && groups->front().as<std::string>();
    for (const TomlValue& group : names_alone ? alone : groups ? *groups : TomlArray{}) {
      std::vector<std::string> names;
      const auto* members = group.as<TomlArray>();
      for (const TomlValue& member : members ? *members : TomlArray{})
        if (const auto* name = member.as<std::string>()) names.push_back(*name);
      if (!members || names.size() != members->size()) throw bad_zip(where);
      d.zips.push_back(zip_of(names, place_text(source_, group.place)));
    }
    if (!groups || groups->empty()) throw bad_zip(where);
  }

  void exclusions(const TomlEntry& entry, Document& d) const {
    const auto* several = entry.value.as<TomlArray>();
    const TomlArray alone = {entry.value};
    for (const TomlValue& one : several ? *several : alone)
      d.exclusions.push_back(read_exclusion(one, source_, place_text(source_, one.place)));
  }

  void computed(const TomlTable& table, const std::string& prefix, Document& d) const {
    for (const TomlEntry& e : table) {
      const std::string name = prefix + e.key, where = place_text(source_, e.place);
      if (const auto* inner = e.value.as<TomlTable>()) {
        computed(*inner, name + ".", d);
        continue;
      }
      const auto* text = e.value.as<std::string>();
      if (!text)
        throw Error(ErrorKind::usage, fmt::format("compute.{} takes a formula", name), where,
                    "put it in quotes: \"global_batch / devices\"");
      d.computed.push_back(computed_of(name, *text, where));
    }
  }

  std::vector<Document> sweeps(const TomlEntry& entry) const {
    std::vector<Document> result;
    const auto* array = entry.value.as<TomlArray>();
    for (const TomlValue& v : array ? *array : TomlArray{}) {
      const auto* table = v.as<TomlTable>();
      if (!table) break;
      result.push_back(document(*table, false));
    }
    if (!array || result.size() != array->size())
      throw Error(ErrorKind::usage, "sweep takes tables", place_text(source_, entry.place), "write [[sweep]]");
    return result;
  }

  static bool is_table(const TomlValue& v) {
    const auto* array = v.as<TomlArray>();
    return v.as<TomlTable>() || (array && !array->empty() && array->front().as<TomlTable>());
  }
  const TomlTable& table_of(const TomlEntry& e) const {
    if (const auto* table = e.value.as<TomlTable>()) return *table;
    throw Error(ErrorKind::usage, fmt::format("{} is a table, not a value", e.key), place_text(source_, e.place),
                fmt::format("write [{}]", e.key));
  }
  std::string text_of(const TomlEntry& e) const {
    if (const auto* text = e.value.as<std::string>()) return *text;
    throw Error(ErrorKind::usage, fmt::format("label {} takes a string", e.key), place_text(source_, e.place), "put it in quotes");
  }

  const std::string& source_;
};

std::pair<std::string, std::string> split_flag(const std::string& flag, const char* name) {
  const size_t equals = flag.find('=');
  if (equals == flag.npos || equals == 0)
    throw Error(ErrorKind::usage, "there is no key=value", fmt::format("{} {}", name, flag), fmt::format("write {} KEY=VALUE", name));
  return {flag.substr(0, equals), flag.substr(equals + 1)};
}

const Setting* last_of(const std::vector<Setting>& settings, const std::string& key) {
  const auto found = std::find_if(settings.rbegin(), settings.rend(), [&](const Setting& s) { return s.key->name == key; });
  return found == settings.rend() ? nullptr : &*found;
}

std::vector<Setting> workload_settings(const std::string& toml, const std::string& source) {
  std::vector<Setting> settings;
  for (const TomlEntry& e : parse_toml(toml, source)) settings.push_back({&find_key("workload." + e.key, source), e.value, source});
  return settings;
}

void apply(const Setting& setting, Spec& spec) {
  const Key& key = *setting.key;
  if (key.set(spec, setting.value)) return;
  const auto* text = setting.value.as<std::string>();
  const std::string nearest = text ? nearest_name(*text, key.choices) : "";
  throw Error(ErrorKind::usage,
              fmt::format("{} = {} is not possible: it takes {}", key.name, shortened(toml_text(setting.value)), key.type), setting.where,
              nearest.empty() ? "" : fmt::format("did you mean {}?", nearest));
}

// What a workload's other values decide unless somebody said otherwise.
void derive(Spec& spec, const std::vector<Setting>& settings) {
  const auto given = [&](const char* key) { return last_of(settings, key) != nullptr; };
  WorkloadSpec& w = spec.workload;
  if (!given("workload.ffn")) w.gpt.ffn = 4 * w.gpt.hidden;
  w.gpt.padded_vocabulary = (w.gpt.vocabulary + 127) / 128 * 128;
  // The linear scaling rule (Goyal et al. 2017, section 2.1) from 0.256 at batch 256, as NVIDIA's DeepLearningExamples RN50v1.5. What it
  // gives for large batches needs their warm-up of epochs: after the few steps of ours, batch 128 first loses more than an untrained
  // network, and the run counts as broken. So the rate stays at that of batch 32 from there on.
  if (w.kind == WorkloadKind::resnet50 && !given("workload.learning_rate"))
    w.optimizer.learning_rate = 0.256 * double(std::min<int64_t>(w.global_batch, 32)) / 256;
}

}  // namespace

Document read_source(const std::string& source) {
  const std::vector<std::string> names = preset_names();
  const Key &name = find_key("name", ""), &preset = find_key("workload.preset", "");
  const auto named = [&](const std::string& text) { return Setting{&name, {text, {}}, source}; };
  if (std::find(names.begin(), names.end(), source) != names.end()) {
    Document d;
    d.settings = {named(source), {&preset, {source, {}}, source}};
    return d;
  }
  std::error_code unreadable;  // a name too long is no file either
  if (!std::filesystem::exists(source, unreadable)) {
    const std::string nearest = nearest_name(source, names);
    throw Error(
        ErrorKind::usage, "there is neither such a file nor such a preset", shortened(source),
        nearest.empty() ? fmt::format("give a file or one of {}", fmt::join(names, ", ")) : fmt::format("did you mean {}?", nearest));
  }
  Document d = read_text(read_file(source, largest_spec), source);
  d.settings.insert(d.settings.begin(), named(std::filesystem::path(source).stem()));
  return d;
}

Document read_text(const std::string& toml, const std::string& source) { return Reader(source).document(parse_toml(toml, source), true); }

Document read_flags(const SpecRequest& request) {
  Document d;
  for (const std::string& flag : request.set) {
    const auto [name, value] = split_flag(flag, "--set");
    const std::string where = "--set " + flag;
    d.settings.push_back(flag_setting(find_key(name, where), value, where));
  }
  for (const std::string& flag : request.axes) d.axes.push_back(axis_from_text(parse_axis(flag), "--axis " + flag));
  for (const std::string& flag : request.zips) {
    std::vector<std::string> names(1);
    for (const char c : flag)
      if (c == ',')
        names.emplace_back();
      else if (c != ' ')
        names.back() += c;
    d.zips.push_back(zip_of(names, "--zip " + flag));
  }
  for (const std::string& flag : request.excludes) d.exclusions.push_back(read_exclusion({flag, {}}, "", "--exclude " + flag));
  for (const std::string& flag : request.computes) {
    const auto [name, text] = split_flag(flag, "--compute");
    d.computed.push_back(computed_of(name, text, "--compute " + flag));
  }
  for (const std::string& flag : request.labels) d.labels.push_back(split_flag(flag, "--label"));
  return d;
}

Document overlay(Document below, const Document& above) {
  const auto replace = [&](const Key* key) { std::erase_if(below.computed, [&](const Computed& c) { return c.key == key; }); };
  const auto replace_axis = [&](const Key* key) {
    if (std::erase_if(below.axes, [&](const SettingAxis& a) { return a.key == key; }))
      for (Zip& z : below.zips) std::erase(z.keys, key);
  };
  for (const Setting& s : above.settings) replace(s.key), replace_axis(s.key);
  for (const SettingAxis& a : above.axes) replace(a.key);
  for (const Computed& c : above.computed) replace(c.key), replace_axis(c.key);
  below.computed.insert(below.computed.end(), above.computed.begin(), above.computed.end());
  below.zips.insert(below.zips.end(), above.zips.begin(), above.zips.end());
  below.exclusions.insert(below.exclusions.end(), above.exclusions.begin(), above.exclusions.end());
  below.settings.insert(below.settings.end(), above.settings.begin(), above.settings.end());
  for (const SettingAxis& axis : above.axes) {
    const auto same = std::find_if(below.axes.begin(), below.axes.end(), [&](const SettingAxis& a) { return a.key == axis.key; });
    if (same == below.axes.end())
      below.axes.push_back(axis);
    else
      *same = axis;
  }
  for (const auto& label : above.labels) {
    std::erase_if(below.labels, [&](const auto& l) { return l.first == label.first; });
    below.labels.push_back(label);
  }
  return below;
}

void require_used(const Document& given, const std::set<WorkloadKind>& kinds) {
  const auto check = [&](const Setting& s) {
    if (std::any_of(kinds.begin(), kinds.end(), [&](WorkloadKind k) { return s.key->used_by(k); })) return;
    std::vector<std::string> names;
    for (const WorkloadKind k : kinds) names.push_back(name_of(k));
    throw Error(ErrorKind::usage, fmt::format("unused key {}: a {} workload has no use for it", s.key->name, fmt::join(names, " or ")),
                s.where, "remove it");
  };
  for (const Setting& s : given.settings) check(s);
  for (const SettingAxis& axis : given.axes) check(axis.values.front());
  for (const Computed& c : given.computed) check({c.key, {}, c.where});
}

Spec build_spec(const std::vector<Setting>& settings, const std::vector<std::pair<std::string, std::string>>& labels) {
  const Setting *preset = last_of(settings, "workload.preset"), *kind = last_of(settings, "workload.kind");
  if (!preset && !kind)
    throw Error(ErrorKind::usage, "there is no workload", settings.front().where, "set workload.preset or workload.kind");

  std::vector<Setting> all;
  Spec spec;
  if (preset) {
    apply(*preset, spec);
    for (const Preset& p : presets())
      if (p.name == spec.workload.preset) all = workload_settings(p.settings, "preset " + p.name);
    apply(*last_of(all, "workload.kind"), spec);
  }
  const WorkloadKind preset_kind = spec.workload.kind;
  if (kind) apply(*kind, spec);
  if (preset && spec.workload.kind != preset_kind)
    throw Error(ErrorKind::usage,
                fmt::format("preset {} is of kind {}, not {}", spec.workload.preset, name_of(preset_kind), name_of(spec.workload.kind)),
                kind->where, "remove workload.kind");

  all.insert(all.end(), settings.begin(), settings.end());
  for (const Setting& s : workload_settings(kind_defaults(spec.workload.kind), "defaults")) apply(s, spec);
  for (const Setting& s : all)
    if (s.key->used_by(spec.workload.kind)) apply(s, spec);
  derive(spec, all);
  spec.labels = labels;
  return spec;
}

BuiltSpec build_computed(std::vector<Setting> settings, const Document& document) {
  require_order(document.computed);
  BuiltSpec built{build_spec(settings, document.labels), {}, {}};
  for (const Computed& c : document.computed) {
    if (!c.key->used_by(built.spec.workload.kind)) continue;
    const FormulaResult result = c.formula.evaluate(built.spec);
    Spec with = built.spec;
    if (!result.value)
      built.problem = fmt::format("{} = {}: {}", c.key->name, c.text, result.problem);
    else if (!c.key->set(with, {*result.value, {}}))
      built.problem = fmt::format("{} = {}: {} is not possible, it takes {}", c.key->name, c.text, *result.value, c.key->type);
    if (!built.problem.empty()) {
      built.where = c.where;
      return built;
    }
    settings.push_back({c.key, {*result.value, {}}, c.where});
    built.spec = build_spec(settings, document.labels);
  }
  return built;
}

}  // namespace erg
