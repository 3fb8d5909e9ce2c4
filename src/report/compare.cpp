// Pairing of points, and what is said of each pair.
#include "report/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "report/words.hpp"
#include "store/metrics.hpp"

namespace erg {
namespace {

using Group = std::vector<const Record*>;  // the launches of a point

std::vector<Group> points_of(const std::vector<Record>& records) {
  std::vector<Group> groups;
  std::map<std::string, size_t> place;
  for (const Record& r : records) {
    const auto [at, is_new] = place.emplace(r.spec_hash.empty() ? r.id : r.spec_hash, groups.size());
    if (is_new) groups.emplace_back();
    groups[at->second].push_back(&r);
  }
  return groups;
}

// What two points have in common although their specs differ in something, such as the device.
std::string place_of(const Group& g) {
  const Record& r = *g.front();
  std::string text =
      field_text(r.spec, "workload.kind") + "|" + field_text(r.spec, "workload.preset") + "|" + field_text(r.spec, "workload.global_batch");
  auto coordinates = r.coordinates;
  std::sort(coordinates.begin(), coordinates.end());
  for (const auto& [key, value] : coordinates) text += "|" + key + "=" + value;
  return text;
}

struct Pair {
  const Group *a = nullptr, *b = nullptr;
};

// Joins the still lonely of both sides whose key is the same and unique on each.
template <class KeyOf>
void join(std::vector<Pair>& pairs, const KeyOf& key_of) {
  std::map<std::string, std::vector<size_t>> lonely_a, lonely_b;
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i].a && !pairs[i].b) lonely_a[key_of(*pairs[i].a)].push_back(i);
    if (pairs[i].b && !pairs[i].a) lonely_b[key_of(*pairs[i].b)].push_back(i);
  }
  for (const auto& [key, at] : lonely_a) {
    const auto partner = lonely_b.find(key);
    if (partner == lonely_b.end() || at.size() != 1 || partner->second.size() != 1) continue;
    std::swap(pairs[at[0]].b, pairs[partner->second[0]].b);
  }
  std::erase_if(pairs, [](const Pair& p) { return !p.a && !p.b; });
}

std::vector<Pair> paired(const std::vector<Group>& a, const std::vector<Group>& b) {
  std::vector<Pair> pairs;
  for (const Group& g : a) pairs.push_back({&g, nullptr});
  for (const Group& g : b) pairs.push_back({nullptr, &g});
  join(pairs, [](const Group& g) { return g.front()->spec_hash; });
  join(pairs, place_of);
  if (a.size() == 1 && b.size() == 1) join(pairs, [](const Group&) { return std::string(); });
  return pairs;
}

bool failed(const Record& r) {
  return r.status == Status::failed || r.status == Status::invalid || r.status == Status::oom || r.status == Status::timeout;
}
bool any_failed(const Group* g) {
  return g && std::any_of(g->begin(), g->end(), [](const Record* r) { return failed(*r); });
}

std::string statuses(const Group* g) {
  if (!g) return "missing";
  std::map<Status, int> counts;
  for (const Record* r : *g) ++counts[r->status];
  std::string text;
  for (const auto& [status, count] : counts) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name_of(status));
  return text;
}

std::string title_of(const Record& r) {
  std::string title = fmt::format("{}, batch {}", workload_title(r), field_text(r.spec, "workload.global_batch"));
  for (const auto& [key, value] : r.coordinates)
    if (key != "workload.global_batch" && key != "workload.preset") title += fmt::format(", {} {}", key.substr(key.rfind('.') + 1), value);
  return title + ", " + precision_of(r);
}

// Values of passed launches only: an INVALID score is withheld, an interrupted window is not what was asked for.
Launches launches_of(const Group& g, const std::string& metric) {
  Launches side;
  for (const Record* r : g) {
    const auto m = r->metrics.find(metric);
    if (r->status != Status::passed || m == r->metrics.end() || !m->second.value || *m->second.value <= 0) continue;
    side.values.push_back(*m->second.value);
    if (m->second.ci95) side.within = Interval{m->second.ci95->first, m->second.ci95->second};
  }
  if (side.values.size() > 1) side.within.reset();
  return side;
}

void flatten(const Json& json, const std::string& prefix, std::map<std::string, std::set<std::string>>& facts) {
  for (const auto& [key, value] : json.items())
    if (value.is_object())
      flatten(value, prefix + key + ".", facts);
    else
      facts[prefix + key].insert(value.is_string() ? value.get<std::string>() : value.dump());
}

// Facts that change from minute to minute say nothing of the machine.
bool passing(const std::string& key) {
  static const std::set<std::string> words = {"load", "stolen_share", "available_bytes", "free_bytes", "uptime_s", "temperature_c"};
  return words.count(key.substr(key.rfind('.') + 1)) > 0;
}

using Facts = std::map<std::string, std::set<std::string>>;

std::vector<Difference> differences(const Facts& a, const Facts& b) {
  std::set<std::string> keys;
  for (const Facts* side : {&a, &b})
    for (const auto& [key, ignored] : *side) keys.insert(key);
  const auto text = [](const Facts& facts, const std::string& key) {
    const auto at = facts.find(key);
    return at == facts.end() ? std::string("–") : fmt::format("{}", fmt::join(at->second, " | "));
  };
  std::vector<Difference> found;
  for (const std::string& key : keys)
    if (!passing(key) && text(a, key) != text(b, key)) found.push_back({key, text(a, key), text(b, key)});
  return found;
}

Facts environment_of(const std::vector<Record>& records) {
  Facts facts;
  for (const Record& r : records)
    if (r.environment.is_object()) flatten(r.environment, "", facts);
  return facts;
}

Facts spec_of(const Group& g) {
  Facts facts;
  flatten(g.front()->spec, "", facts);
  for (const char* own : {"repeat_index", "name"}) facts.erase(own);
  std::erase_if(facts, [](const auto& fact) { return fact.first.starts_with("labels."); });
  return facts;
}

void add_notes(const Group* g, const char* side, std::vector<std::string>& notes) {
  if (!g) return;
  std::set<std::string> flags;
  std::map<std::string, int> reasons;
  for (const Record* r : *g) {
    for (const Flag& f : r->flags) flags.insert(f.code);
    if (r->status != Status::passed)
      ++reasons[fmt::format("{}{}", name_of(r->status), r->status_reason.empty() ? "" : ": " + one_line(r->status_reason))];
  }
  for (const auto& [reason, count] : reasons) notes.push_back(fmt::format("{}: {} of {} {}", side, count, g->size(), reason));
  if (!flags.empty()) notes.push_back(fmt::format("{}: flags {}", side, fmt::join(flags, ", ")));
}

void add_metric(const Pair& pair, const std::string& name, double threshold, ComparedPoint& point) {
  const Launches a = launches_of(*pair.a, name), b = launches_of(*pair.b, name);
  if (a.values.empty() || b.values.empty()) return;
  const Metric kind = unavailable(name, "");
  ComparedMetric m{name, kind.unit, a.values.size(), b.values.size(), judge(a, b, kind.better == "higher", threshold)};
  point.regression |= m.judged.judgement == Judgement::slower;
  point.metrics.push_back(std::move(m));
}

ComparedPoint compare_point(const Pair& pair, double threshold) {
  ComparedPoint point;
  point.title = title_of(*(pair.a ? pair.a : pair.b)->front());
  point.status_a = statuses(pair.a);
  point.status_b = statuses(pair.b);
  add_notes(pair.a, "A", point.notes);
  add_notes(pair.b, "B", point.notes);
  const auto passed = [](const Group* g) {
    return g && std::any_of(g->begin(), g->end(), [](const Record* r) { return r->status == Status::passed; });
  };
  point.regression = (passed(pair.a) && !passed(pair.b)) || (pair.a && any_failed(pair.b) && !any_failed(pair.a));
  if (!pair.a || !pair.b) return point;
  for (const char* name : {"images_per_s", "tokens_per_s", "images_per_wh", "tokens_per_wh"}) add_metric(pair, name, threshold, point);
  if (pair.a->front()->spec_hash != pair.b->front()->spec_hash) point.spec = differences(spec_of(*pair.a), spec_of(*pair.b));
  if (point.metrics.empty() && passed(pair.a) && passed(pair.b)) point.notes.push_back("no metric has values on both sides");
  return point;
}

}  // namespace

Comparison compare(const std::vector<Record>& a, const std::vector<Record>& b, double threshold) {
  const std::vector<Group> points_a = points_of(a), points_b = points_of(b);
  Comparison c;
  c.threshold = threshold;
  for (const Pair& pair : paired(points_a, points_b)) c.points.push_back(compare_point(pair, threshold));
  c.machine = differences(environment_of(a), environment_of(b));
  return c;
}

bool has_regression(const Comparison& c) {
  return std::any_of(c.points.begin(), c.points.end(), [](const ComparedPoint& p) { return p.regression; });
}

const char* verdict_word(const ComparedMetric& m) {
  const bool energy = m.name.ends_with("_per_wh");
  switch (m.judged.judgement) {
    case Judgement::faster: return energy ? "BETTER" : "FASTER";
    case Judgement::slower: return energy ? "WORSE" : "SLOWER";
    case Judgement::same: return "SAME";
    case Judgement::unclear: return "UNCLEAR";
  }
  return "?";
}

}  // namespace erg
