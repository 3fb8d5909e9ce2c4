// The learning rate over a run: linear warm-up, then a cosine to a tenth of the peak (Loshchilov & Hutter 2017, "SGDR",
// equation 5, one period; the tenth is GPT-3's, Brown et al. 2020, appendix B).
#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>

#include "spec/spec.hpp"

namespace erg {

// Steps count from 1. Warm-up reaches the peak at step `warmup_steps`; the tenth is reached at `total_steps` and kept.
// total_steps = 0: constant after the warm-up.
inline double learning_rate(const OptimizerSpec& o, int64_t step) {
  if (step <= o.warmup_steps) return o.learning_rate * double(step) / double(o.warmup_steps);
  if (o.total_steps <= 0) return o.learning_rate;
  if (step >= o.total_steps) return 0.1 * o.learning_rate;
  const double progress = double(step - o.warmup_steps) / double(o.total_steps - o.warmup_steps);
  return o.learning_rate * (0.1 + 0.45 * (1.0 + std::cos(std::numbers::pi * progress)));
}

}  // namespace erg
