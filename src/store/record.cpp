// Records to JSON and back. Every field is written, so that a reader never wonders whether one was forgotten.
#include "store/record.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <concepts>
#include <utility>

#include "core/error.hpp"

namespace erg {
namespace {

constexpr int schema_version = 1;

constexpr std::array<std::pair<Status, const char*>, 8> status_names{{{Status::running, "RUNNING"},
                                                                      {Status::passed, "PASSED"},
                                                                      {Status::failed, "FAILED"},
                                                                      {Status::invalid, "INVALID"},
                                                                      {Status::oom, "OOM"},
                                                                      {Status::skipped, "SKIPPED"},
                                                                      {Status::timeout, "TIMEOUT"},
                                                                      {Status::interrupted, "INTERRUPTED"}}};

Json metric_json(const Metric& m) {
  Json j = {{"value", m.value ? Json(*m.value) : Json(nullptr)}, {"unit", m.unit}, {"better", m.better}};
  if (m.ci95) j["ci95"] = {m.ci95->first, m.ci95->second};
  if (m.n) j["n"] = m.n;
  if (!m.value) j["reason"] = m.reason;
  return j;
}

}  // namespace

std::string json_text(const Json& json) { return json.dump(1, ' ', false, Json::error_handler_t::replace); }

namespace {

// Reads fields and, when one is missing or of the wrong type, says which.
class Reader {
 public:
  Reader(const Json& json, std::string path) : json_(json), path_(std::move(path)) {
    if (!json.is_object()) fail("is not an object");
  }

  template <class T>
  T required(const char* key) const {
    if (!json_.contains(key)) fail(fmt::format("has no \"{}\"", key));
    return as<T>(key);
  }
  template <class T>
  T optional(const char* key, T otherwise = {}) const {
    return json_.contains(key) && !json_.at(key).is_null() ? as<T>(key) : otherwise;
  }
  Json any(const char* key) const { return json_.contains(key) ? json_.at(key) : Json(); }

 private:
  template <class T>
  T as(const char* key) const {
    // JSON's library turns any number into any type, undefined where it does not fit.
    if constexpr (std::integral<T> && !std::is_same_v<T, bool>)
      if (const Json& value = json_.at(key); value.is_number() && !is_whole<T>(value))
        fail(fmt::format("has a bad \"{}\": {}", key, value.dump()));
    try {
      return json_.at(key).get<T>();
    } catch (const nlohmann::json::exception& e) { fail(fmt::format("has a bad \"{}\": {}", key, e.what())); }
  }
  template <class T>
  static bool is_whole(const Json& number) {
    return number.is_number_unsigned() ? std::in_range<T>(number.get<uint64_t>())
                                       : number.is_number_integer() && std::in_range<T>(number.get<int64_t>());
  }
  [[noreturn]] void fail(const std::string& what) const { throw Error(ErrorKind::usage, fmt::format("{} {}", path_, what)); }

  const Json& json_;
  std::string path_;
};

// What those who print and filter rely on, so that they need not look at types: null everywhere, or what stands here.
struct Shape {
  const char *field, *inner;  // inner nullptr: the field itself
  bool (Json::*holds)() const;
  const char* type;
};
constexpr std::array shapes = {
    Shape{"spec", nullptr, &Json::is_object, "an object"},         Shape{"spec", "name", &Json::is_string, "a string"},
    Shape{"plan", nullptr, &Json::is_object, "an object"},         Shape{"plan", "flops_per_step", &Json::is_number, "a number"},
    Shape{"environment", nullptr, &Json::is_object, "an object"},  Shape{"environment", "memory", &Json::is_object, "an object"},
    Shape{"coordinates", nullptr, &Json::is_object, "an object"},  Shape{"metrics", nullptr, &Json::is_object, "an object"},
    Shape{"energy", nullptr, &Json::is_object, "an object"},       Shape{"energy", "not_included", &Json::is_array, "an array"},
    Shape{"phases", nullptr, &Json::is_object, "an object"},       Shape{"phases", "init_s", &Json::is_number, "a number"},
    Shape{"phases", "check_s", &Json::is_number, "a number"},      Shape{"phases", "warmup_s", &Json::is_number, "a number"},
    Shape{"phases", "settle_s", &Json::is_number, "a number"},     Shape{"phases", "measure_s", &Json::is_number, "a number"},
    Shape{"phases", "validation_s", &Json::is_number, "a number"}, Shape{"check", nullptr, &Json::is_object, "an object"},
    Shape{"flags", nullptr, &Json::is_array, "an array"},          Shape{"process", nullptr, &Json::is_object, "an object"},
};

void require_shapes(const Json& json) {
  for (const Shape& s : shapes) {
    const auto field = json.find(s.field);
    if (field == json.end() || field->is_null()) continue;
    const auto inner = s.inner ? field->find(s.inner) : field;
    if (s.inner && inner == field->end()) continue;
    if (!((*inner).*s.holds)())
      throw Error(ErrorKind::usage, fmt::format("the record has a bad \"{}{}{}\": it is not {}", s.field, s.inner ? "." : "",
                                                s.inner ? s.inner : "", s.type));
  }
}

Metric metric_from(const Json& json, const std::string& name) {
  const Reader r(json, fmt::format("metric \"{}\"", name));
  Metric m;
  if (!r.any("value").is_null()) m.value = r.required<double>("value");
  m.unit = r.optional<std::string>("unit");
  m.better = r.optional<std::string>("better");
  if (!r.any("ci95").is_null()) m.ci95 = r.required<std::pair<double, double>>("ci95");
  m.n = r.optional<int64_t>("n");
  m.reason = r.optional<std::string>("reason");
  return m;
}

}  // namespace

const char* name_of(Status status) {
  for (const auto& [s, name] : status_names)
    if (s == status) return name;
  return "?";
}

Status status_from(const std::string& name) {
  for (const auto& [s, text] : status_names)
    if (name == text) return s;
  throw Error(ErrorKind::usage, fmt::format("\"{}\" is not a status", name));
}

Json to_json(const Record& r) {
  Json j;
  j["schema_version"] = schema_version;
  j["id"] = r.id;
  j["status"] = name_of(r.status);
  j["status_reason"] = r.status_reason;
  if (!r.error_kind.empty()) j["error_kind"] = r.error_kind;
  j["started"] = r.started;
  j["spec"] = r.spec;
  j["spec_hash"] = r.spec_hash;
  j["sweep_id"] = r.sweep_id;
  j["coordinates"] = Json::object();
  for (const auto& [key, value] : r.coordinates) j["coordinates"][key] = value;
  j["plan"] = r.plan;
  j["environment"] = r.environment;
  j["metrics"] = Json::object();
  for (const auto& [name, metric] : r.metrics) j["metrics"][name] = metric_json(metric);
  j["energy"] = r.energy;
  j["probe"] = r.probe;
  j["phases"] = r.phases;
  j["statistics"] = r.statistics;
  j["profile"] = r.profile;
  j["check"] = r.check;
  j["data"] = r.data;
  j["flags"] = Json::array();
  for (const Flag& f : r.flags) j["flags"].push_back({{"code", f.code}, {"detail", f.detail}});
  j["repro"] = r.repro;
  if (!r.tail.empty()) j["tail"] = r.tail;
  j["process"] = r.process;
  return j;
}

Record record_from_json(const Json& json) {
  const Reader in(json, "the record");
  const int version = in.required<int>("schema_version");
  if (version != schema_version)
    throw Error(ErrorKind::usage, fmt::format("the record has schema_version {}, this program reads {}", version, schema_version), {},
                version > schema_version ? "read it with a newer ergometer" : "");
  require_shapes(json);
  Record r;
  r.id = in.required<std::string>("id");
  r.status = status_from(in.required<std::string>("status"));
  r.status_reason = in.optional<std::string>("status_reason");
  r.error_kind = in.optional<std::string>("error_kind");
  r.started = in.optional<std::string>("started");
  r.spec = in.any("spec");
  r.spec_hash = in.optional<std::string>("spec_hash");
  r.sweep_id = in.optional<std::string>("sweep_id");
  const Json coordinates = in.optional<Json>("coordinates", Json::object());
  for (const auto& [key, value] : coordinates.items())
    r.coordinates.emplace_back(key, value.is_string() ? value.get<std::string>() : value.dump());
  r.plan = in.any("plan");
  r.environment = in.any("environment");
  const Json metrics = in.optional<Json>("metrics", Json::object());
  for (const auto& [name, metric] : metrics.items()) r.metrics[name] = metric_from(metric, name);
  r.energy = in.any("energy");
  r.probe = in.any("probe");
  r.phases = in.any("phases");
  r.statistics = in.any("statistics");
  r.profile = in.any("profile");
  r.check = in.any("check");
  r.data = in.any("data");
  const Json flags = in.optional<Json>("flags", Json::array());
  for (const Json& f : flags) {
    const Reader flag(f, "a flag");
    r.flags.push_back({flag.required<std::string>("code"), flag.optional<std::string>("detail")});
  }
  r.repro = in.optional<std::string>("repro");
  r.tail = in.optional<std::string>("tail");
  r.process = in.any("process");
  return r;
}

}  // namespace erg
