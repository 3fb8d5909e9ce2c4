// Whether a run's losses allow its speed to count (METHOD §2).
#pragma once
#include <span>
#include <string>
#include <vector>

#include "store/record.hpp"
#include "workload/workload.hpp"

namespace erg {

struct Verdict {
  std::string invalid;  // why the score is withheld; empty: valid
  std::vector<Flag> flags;
};

// losses: of every step since the initial weights. classes: of the softmax, so that an untrained network's loss is near ln(classes).
//
// With N steps, the means of the first k and the last k are compared, k = N/4 but at least 1 and at most 100. Their difference has the
// standard error SE = s sqrt(2/k), where s² is half the mean squared difference of successive losses (von Neumann 1941): noise without
// the trend. Checked in this order:
//   not finite anywhere                                            invalid
//   first loss off ln(classes) by more than 0.5 + a quarter of it  invalid
//   one above 3 ln(classes)                                        invalid: no sound run has such a loss; above 2: flag loss_spike
//   last above 1.5 ln(classes), k > 1                              invalid: worse than an untrained network
//   first - last > 2 SE                                            valid: it falls
//   N < 20                                                         flag loss_unclear: too few steps to tell
//   last - first > 3 SE                                            invalid: it rises
//   N >= 200                                                       invalid: it does not fall
//   else                                                           flag loss_unclear
Verdict judge_losses(std::span<const double> losses, double classes);

// Flag validation_high: held-back data are above 2 ln(classes), which no network that has learned would give.
std::vector<Flag> judge_validation(double loss, double classes);

Verdict judge_check(const CheckResult& check);
Json check_json(const CheckResult& check);

}  // namespace erg
