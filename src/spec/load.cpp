// load_spec and load_sweep: documents laid over each other, axes multiplied out, points checked.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/error.hpp"
#include "spec/settings.hpp"
#include "spec/spec.hpp"

namespace erg {
namespace {

constexpr double most_points = 10'000;

std::string plain_text(const TomlValue& value) {
  const auto* text = value.as<std::string>();
  return text ? *text : toml_text(value);
}

// Which axes advance together: the index of each axis's first partner, its own without a zip.
std::vector<size_t> leaders(const Document& sweep) {
  const auto axis_of = [&](const Key* key) {
    return size_t(std::find_if(sweep.axes.begin(), sweep.axes.end(), [&](const SettingAxis& a) { return a.key == key; }) -
                  sweep.axes.begin());
  };
  std::vector<size_t> leader(sweep.axes.size());
  std::vector<bool> zipped(sweep.axes.size(), false);
  std::iota(leader.begin(), leader.end(), size_t(0));
  for (const Zip& zip : sweep.zips) {
    std::vector<size_t> members;
    std::string without;
    for (const Key* key : zip.keys) {
      const size_t i = axis_of(key);
      if (i < leader.size())
        members.push_back(i);
      else
        without = key->name;
    }
    if (members.empty()) continue;  // meant for another [[sweep]] table
    if (!without.empty())
      throw Error(ErrorKind::usage, fmt::format("zip names {}, which has no axis", without), zip.where, "give it values in [axes]");
    std::sort(members.begin(), members.end());
    for (const size_t i : members) {
      const SettingAxis &axis = sweep.axes[i], &first = sweep.axes[members[0]];
      if (zipped[i])
        throw Error(ErrorKind::usage, fmt::format("{} stands in two zips", axis.key->name), zip.where, "put its axes into one");
      if (axis.values.size() != first.values.size())
        throw Error(ErrorKind::usage,
                    fmt::format("zipped axes differ in length: {} has {} values, {} has {}", first.key->name, first.values.size(),
                                axis.key->name, axis.values.size()),
                    zip.where, "give them equally many values");
      zipped[i] = true;
      leader[i] = members[0];
    }
  }
  return leader;
}

// An axis replaces a value given beside it, so its value comes last.
SweepPoint make_point(const Document& sweep, const std::vector<size_t>& at) {
  std::vector<Setting> settings = sweep.settings;
  SweepPoint point;
  for (size_t i = 0; i < at.size(); ++i) {
    settings.push_back(sweep.axes[i].values[at[i]]);
    point.coordinates.emplace_back(sweep.axes[i].key->name, plain_text(settings.back().value));
  }
  const BuiltSpec built = build_computed(settings, sweep);
  point.spec = built.spec;
  point.skip_reason = built.problem;
  if (!built.problem.empty()) return point;
  try {
    validate(point.spec);
    validate_runnable(point.spec);
  } catch (const Error& e) { point.skip_reason = e.message(); }
  return point;
}

// What occurred in a sweep, so that what nothing has a use for can be refused.
struct Used {
  std::set<WorkloadKind> kinds;
  std::set<std::string> places;  // of exclusions that matched and zips that have axes
};

void require_no_conflict(const Document& sweep) {
  for (const Computed& c : sweep.computed)
    for (const SettingAxis& axis : sweep.axes)
      if (axis.key == c.key)
        throw Error(ErrorKind::usage, fmt::format("{} is an axis and computed", c.key->name), c.where, "remove one of the two");
}

bool excluded(const Document& sweep, const Spec& spec, Used& used) {
  bool any = false;
  for (const Exclusion& e : sweep.exclusions)
    if (e.matches(spec)) {
      used.places.insert(e.where);
      any = true;
    }
  return any;
}

// The cross product, the last axis fastest, zipped axes together.
void add_points(const Document& sweep, std::vector<SweepPoint>& points, Used& used) {
  require_no_conflict(sweep);
  const std::vector<size_t> leader = leaders(sweep);
  for (const Zip& zip : sweep.zips)
    if (std::any_of(sweep.axes.begin(), sweep.axes.end(),
                    [&](const SettingAxis& a) { return std::find(zip.keys.begin(), zip.keys.end(), a.key) != zip.keys.end(); }))
      used.places.insert(zip.where);
  double count = 1;
  for (size_t i = 0; i < leader.size(); ++i)
    if (leader[i] == i) count *= double(sweep.axes[i].values.size());
  if (count > most_points) throw Error(ErrorKind::usage, fmt::format("the sweep has {} points, more than {}", count, most_points));

  const size_t before = points.size();
  std::vector<size_t> at(sweep.axes.size(), 0);
  for (bool more = true; more;) {
    SweepPoint point = make_point(sweep, at);
    used.kinds.insert(point.spec.workload.kind);
    if (!excluded(sweep, point.spec, used)) points.push_back(std::move(point));
    more = false;
    for (size_t axis = at.size(); axis > 0 && !more; --axis) {
      if (leader[axis - 1] != axis - 1) continue;
      more = ++at[axis - 1] < sweep.axes[axis - 1].values.size();
      if (!more) at[axis - 1] = 0;
    }
    for (size_t i = 0; i < at.size(); ++i) at[i] = at[leader[i]];
  }
  if (points.size() == before) throw Error(ErrorKind::usage, "every point is excluded", sweep.exclusions.back().where, "exclude less");
}

// A zip or an exclusion that did nothing is a slip, unless a flag has changed a key that it names.
void require_effect(const Document& given, const Document& flags, const Used& used) {
  const auto by_flag = [&](const std::vector<const Key*>& keys) {
    return std::any_of(keys.begin(), keys.end(), [&](const Key* k) {
      return std::any_of(flags.settings.begin(), flags.settings.end(), [&](const Setting& s) { return s.key == k; }) ||
             std::any_of(flags.axes.begin(), flags.axes.end(), [&](const SettingAxis& a) { return a.key == k; });
    });
  };
  for (const Exclusion& e : given.exclusions)
    if (!used.places.count(e.where) && !by_flag(e.keys()))
      throw Error(ErrorKind::usage, "this excludes no point", e.where, "remove it, or compare with the points of --dry-run");
  for (const Zip& z : given.zips)
    if (!used.places.count(z.where) && !by_flag(z.keys))
      throw Error(ErrorKind::usage, fmt::format("zip names {}, which has no axis", z.keys.front()->name), z.where,
                  "give it values in [axes]");
}

}  // namespace

Spec load_spec(const SpecRequest& request) {
  const Document document = overlay(read_source(request.source), read_flags(request));
  if (!document.axes.empty() || !document.sweeps.empty() || !document.zips.empty() || !document.exclusions.empty())
    throw Error(ErrorKind::usage, "this describes a sweep, not one run", request.source, fmt::format("ergometer sweep {}", request.source));
  const BuiltSpec built = build_computed(document.settings, document);
  if (!built.problem.empty()) throw Error(ErrorKind::usage, built.problem, built.where);
  const Spec& spec = built.spec;
  require_used(document, {spec.workload.kind});
  try {
    validate(spec);
    validate_runnable(spec);
  } catch (const Error& e) {  // e.where() is a key: point at where it was given
    std::string where = fmt::format("{}: {}", request.source, e.where());
    for (const Setting& s : document.settings)
      if (s.key->name == e.where()) where = s.where;
    throw Error(e.kind(), e.message(), where, e.fix());
  }
  return spec;
}

Spec spec_from_toml(const std::string& toml, const std::string& where) {
  const Document document = read_text(toml, where);
  if (document.settings.empty() || !document.axes.empty() || !document.sweeps.empty())
    throw Error(ErrorKind::usage, "this is not the spec of one run", where);
  return build_spec(document.settings, document.labels);
}

std::vector<SweepPoint> load_sweep(const SpecRequest& request) {
  const Document file = read_source(request.source), flags = read_flags(request);
  Document shared = file;
  shared.sweeps.clear();
  const std::vector<Document> sweeps = file.sweeps.empty() ? std::vector<Document>(1) : file.sweeps;

  std::vector<SweepPoint> points;
  Used used;
  for (const Document& own : sweeps) {
    Used here;
    add_points(overlay(overlay(shared, own), flags), points, here);
    require_used(own, here.kinds);  // what stands above the [[sweep]] tables may be meant for some of them
    require_effect(own, flags, here);
    used.kinds.insert(here.kinds.begin(), here.kinds.end());
    used.places.insert(here.places.begin(), here.places.end());
  }
  require_used(shared, used.kinds);
  require_used(flags, used.kinds);
  require_effect(shared, flags, used);
  require_effect(flags, {}, used);

  std::vector<SweepPoint> all;
  for (int64_t repeat = 0, added = 1; added > 0; ++repeat) {
    added = 0;
    for (const SweepPoint& point : points) {
      const int64_t runs = point.skip_reason.empty() ? point.spec.measure.repeat : 1;
      if (repeat >= runs) continue;
      all.push_back(point);
      all.back().spec.repeat_index = repeat;
      ++added;
    }
  }
  return all;
}

}  // namespace erg
