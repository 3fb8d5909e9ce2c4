// load_spec and load_sweep: documents laid over each other, axes multiplied out, points checked.
#include <fmt/format.h>

#include <algorithm>

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

// An axis replaces a value given beside it, so its value comes last.
SweepPoint make_point(const Document& sweep, const std::vector<size_t>& at) {
  std::vector<Setting> settings = sweep.settings;
  SweepPoint point;
  for (size_t i = 0; i < at.size(); ++i) {
    settings.push_back(sweep.axes[i].values[at[i]]);
    point.coordinates.emplace_back(sweep.axes[i].key->name, plain_text(settings.back().value));
  }
  point.spec = build_spec(settings, sweep.labels);
  try {
    validate(point.spec);
    validate_runnable(point.spec);
  } catch (const Error& e) { point.skip_reason = e.message(); }
  return point;
}

// The cross product, the last axis fastest. Returns the kinds of workload that occur.
std::set<WorkloadKind> add_points(const Document& sweep, std::vector<SweepPoint>& points) {
  double count = 1;
  for (const SettingAxis& axis : sweep.axes) count *= double(axis.values.size());
  if (count > most_points) throw Error(ErrorKind::usage, fmt::format("the sweep has {} points, more than {}", count, most_points));

  std::set<WorkloadKind> kinds;
  std::vector<size_t> at(sweep.axes.size(), 0);
  for (;;) {
    points.push_back(make_point(sweep, at));
    kinds.insert(points.back().spec.workload.kind);
    size_t axis = at.size();
    while (axis > 0 && ++at[axis - 1] == sweep.axes[axis - 1].values.size()) at[--axis] = 0;
    if (axis == 0) return kinds;
  }
}

}  // namespace

Spec load_spec(const SpecRequest& request) {
  const Document document = overlay(read_source(request.source), read_flags(request));
  if (!document.axes.empty() || !document.sweeps.empty())
    throw Error(ErrorKind::usage, "this describes a sweep, not one run", request.source, fmt::format("ergometer sweep {}", request.source));
  const Spec spec = build_spec(document.settings, document.labels);
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

std::vector<SweepPoint> load_sweep(const SpecRequest& request) {
  const Document file = read_source(request.source), flags = read_flags(request);
  Document shared = file;
  shared.sweeps.clear();
  const std::vector<Document> sweeps = file.sweeps.empty() ? std::vector<Document>(1) : file.sweeps;

  std::vector<SweepPoint> points;
  std::set<WorkloadKind> kinds;
  for (const Document& own : sweeps) {
    const std::set<WorkloadKind> here = add_points(overlay(overlay(shared, own), flags), points);
    require_used(own, here);  // what stands above the [[sweep]] tables may be meant for some of them
    kinds.insert(here.begin(), here.end());
  }
  require_used(shared, kinds);
  require_used(flags, kinds);

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
