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

constexpr size_t few_steps = 20, many_steps = 200, most_compared = 100;
// In units of an untrained network's loss. The noise of single images reaches 1.7 in sound runs of ResNet-50 at batch 1.
constexpr double flagged_spike = 2, impossible_spike = 3, diverged_mean = 1.5;

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

  const double untrained = std::log(classes);
  const auto largest = std::max_element(losses.begin(), losses.end());
  const std::string spike = fmt::format("the loss of step {} is {}, {:.1f} times that of an untrained network",
                                        largest - losses.begin() + 1, significant(*largest), *largest / untrained);
  if (*largest > impossible_spike * untrained) return {spike, {}};
  std::vector<Flag> flags;
  if (*largest > flagged_spike * untrained) flags.push_back({"loss_spike", spike});

  const size_t n = losses.size(), k = std::clamp<size_t>(n / 4, 1, most_compared);
  const double first = mean(losses.first(k)), last = mean(losses.last(k)), error = noise_of(losses) * std::sqrt(2.0 / double(k));
  const std::string change = fmt::format("{} → {} over {} steps (means of {}, standard error {})", significant(first), significant(last), n,
                                         k, significant(error, 2));
  if (k > 1 && last > diverged_mean * untrained) return {"the loss is above that of an untrained network: " + change, {}};
  if (first - last > 2 * error) return {"", flags};
  if (n < few_steps) {
    flags.push_back({"loss_unclear", "too few steps to see the loss fall: " + change});
    return {"", flags};
  }
  if (last - first > 3 * error) return {"the loss rises: " + change, {}};
  if (n >= many_steps) return {"the loss does not fall: " + change, {}};
  flags.push_back({"loss_unclear", change});
  return {"", flags};
}

std::vector<Flag> judge_validation(double loss, double classes) {
  if (!(loss > flagged_spike * std::log(classes))) return {};
  return {{"validation_high", fmt::format("the validation loss is {}, {:.1f} times that of an untrained network", significant(loss),
                                          loss / std::log(classes))}};
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
