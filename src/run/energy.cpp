// Around the measuring loop: the sampler's life, and the edges' readings in the order sensor, clock, work, clock, sensor.
#include "run/energy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/clock.hpp"
#include "core/interrupt.hpp"

namespace erg {
namespace {

constexpr double margin_s = 2;  // METHOD §5: readings before and after the window

// What no sensor of this scope sees.
struct Scope {
  const char* scope;
  std::vector<const char*> outside;
};
const std::array<Scope, 5> scopes{{{"package", {"board", "disks", "network", "fans", "power supply"}},
                                   {"grace", {"board", "disks", "network", "fans", "power supply"}},
                                   {"module", {"board", "disks", "network", "fans", "power supply"}},
                                   {"platform", {"disks", "network", "fans", "power supply"}},
                                   {"node", {"power supply"}}}};

bool added(const DomainEnergy& d) { return d.sensor.not_added.empty() && d.energy_j; }

// Parts of the machine whose energy is not in the sum.
std::vector<std::string> outside(const WindowEnergy& energy) {
  std::vector<std::string> parts;
  const auto measures = [&](const char* scope) {
    return std::ranges::any_of(energy.domains, [&](const DomainEnergy& d) { return added(d) && d.sensor.scope == scope; });
  };
  if (measures("package") && !measures("dram")) parts.push_back("dram");
  for (const Scope& s : scopes)
    if (measures(s.scope)) parts.insert(parts.end(), s.outside.begin(), s.outside.end());
  return parts;
}

Json domain_json(const DomainEnergy& d) {
  const MeterInfo& s = d.sensor;
  Json j = {{"sensor", s.name},
            {"domain", s.domain},
            {"scope", s.scope},
            {"quality", !d.energy_j ? "unavailable"
                        : s.counter ? "counter"
                                    : "integrated"},
            {"energy_j", d.energy_j ? Json(*d.energy_j) : Json(nullptr)}};
  if (!d.energy_j) j["reason"] = d.reason;
  j["added"] = s.not_added.empty();
  if (!s.not_added.empty()) j["not_added"] = s.not_added;
  j["readings"] = d.readings;
  j["missing"] = d.missing;
  j["median_interval_s"] = d.median_interval_s;
  j["max_gap_s"] = d.max_gap_s;
  j["update_s"] = s.period_s > 0 ? Json(s.period_s) : Json("unavailable");
  j["read_at"] = s.path;
  return j;
}

}  // namespace

EnergyWatch::EnergyWatch(const EnergySpec& spec) : EnergyWatch(spec, open_meters(spec.methods, sysfs_root())) {}

EnergyWatch::EnergyWatch(const EnergySpec& spec, MeterSet set)
    : interval_s_(1e-3 * spec.interval_ms), unavailable_(std::move(set.unavailable)), sampler_(std::move(set.meters)) {}

void EnergyWatch::start(double warmup_s) {
  if (sampler_.empty()) return;
  sampler_.start(interval_s_);
  steady_clock().sleep(margin_s - warmup_s);
}

void EnergyWatch::begin() {
  sampler_.sample();
  begin_s_ = steady_clock().now();
}

void EnergyWatch::end() {
  end_s_ = steady_clock().now();
  sampler_.sample();
}

void EnergyWatch::cool() {
  if (sampler_.empty()) return;
  for (double waited = 0; waited < margin_s && !interrupted(); waited += 0.1) steady_clock().sleep(0.1);
  sampler_.stop();
}

WindowEnergy EnergyWatch::result() {
  sampler_.stop();
  WindowEnergy energy = window_energy(sampler_.traces(), begin_s_, end_s_);
  if (sampler_.empty()) {
    std::vector<std::string> reasons;
    for (const NoSensor& n : unavailable_) reasons.push_back(n.text());
    energy.reason = fmt::format("{}", fmt::join(reasons, "; "));
  }
  return energy;
}

Json energy_json(const WindowEnergy& energy, const std::vector<NoSensor>& unavailable) {
  Json j = {{"total_j", energy.total_j ? Json(*energy.total_j) : Json(nullptr)}, {"domains", Json::array()}};
  for (const DomainEnergy& d : energy.domains) j["domains"].push_back(domain_json(d));
  j["not_included"] = outside(energy);
  for (const NoSensor& n : unavailable) j["not_included"].push_back(n.text() + (n.fix.empty() ? "" : "; fix: " + n.fix));
  return j;
}

std::vector<Flag> energy_flags(const WindowEnergy& energy) {
  std::vector<Flag> flags;
  for (const MeterFinding& f : energy.findings) flags.push_back({f.code, f.detail});
  return flags;
}

}  // namespace erg
