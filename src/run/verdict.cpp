// The rules of verdict.hpp. They are forgiving with few steps, because the check phase's reference losses catch a wrong network.
#include "run/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/stats.hpp"
#include "core/units.hpp"
#include "workload/check.hpp"

namespace erg {
namespace {

constexpr size_t few_steps = 20, many_steps = 200, most_compared = 20;

double noise_of(std::span<const double> x) {
  double squares = 0;
  for (size_t i = 1; i < x.size(); ++i) squares += (x[i] - x[i - 1]) * (x[i] - x[i - 1]);
  return x.size() < 2 ? 0 : std::sqrt(squares / (2.0 * double(x.size() - 1)));
}

}  // namespace

Verdict judge_losses(std::span<const double> losses, double classes) {
  if (losses.empty()) return {};
  const auto bad = std::find_if(losses.begin(), losses.end(), [](double l) { return !std::isfinite(l); });
  if (bad != losses.end()) return {fmt::format("the loss of step {} is not finite", bad - losses.begin() + 1), {}};

  if (!is_untrained_loss(losses.front(), classes))
    return {fmt::format("the first loss is {}, far from ln {} = {}", significant(losses.front()), classes, significant(std::log(classes))),
            {}};

  const size_t n = losses.size(), k = std::clamp<size_t>(n / 4, 1, most_compared);
  const double first = mean(losses.first(k)), last = mean(losses.last(k)), error = noise_of(losses) * std::sqrt(2.0 / double(k));
  const std::string change = fmt::format("{} → {} over {} steps (means of {}, standard error {})", significant(first), significant(last), n,
                                         k, significant(error, 2));
  if (first - last > 2 * error) return {};
  if (n < few_steps) return {"", {{"loss_unclear", "too few steps to see the loss fall: " + change}}};
  if (last - first > 3 * error) return {"the loss rises: " + change, {}};
  if (n >= many_steps) return {"the loss does not fall: " + change, {}};
  return {"", {{"loss_unclear", change}}};
}

Verdict judge_check(const CheckResult& check) {
  switch (check.verdict) {
    case CheckResult::Verdict::passed: return {};
    case CheckResult::Verdict::failed: return {"check failed: " + check.detail, {}};
    case CheckResult::Verdict::unverified: return {"", {{"unverified", check.detail}}};
  }
  return {};
}

Json check_json(const CheckResult& check) {
  static constexpr const char* names[] = {"passed", "failed", "unverified"};
  return {{"verdict", names[int(check.verdict)]},   {"losses", check.losses},       {"reference", check.reference},
          {"worst_relative", check.worst_relative}, {"tolerance", check.tolerance}, {"detail", check.detail}};
}

}  // namespace erg
