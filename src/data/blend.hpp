// Which source of a blend the next sample comes from: Megatron's rule (helpers.cpp, build_blending_indices), one sample at a time.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace erg {

// The source that is furthest behind weight · n after n samples, the first of equals. `given` is what each gave so far: the rule's whole
// state, so that a blend can go on from any point.
class Blend {
 public:
  explicit Blend(std::vector<double> weights) : weights_(std::move(weights)) {}

  size_t choose(const std::vector<int64_t>& given) const {
    int64_t n = 0;
    for (const int64_t g : given) n += g;
    const double samples = double(std::max<int64_t>(n, 1));
    const auto behind = [&](size_t i) { return weights_[i] * samples - double(given[i]); };
    size_t best = 0;
    for (size_t i = 1; i < weights_.size(); ++i)
      if (behind(i) > behind(best)) best = i;
    return best;
  }

 private:
  std::vector<double> weights_;
};

}  // namespace erg
