// The measured peak of matrix products: what model FLOP/s are divided by to give mfu_probe.
#pragma once
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "probe/timing.hpp"

namespace erg {

// y [m, n] = x [m, k] w^T, w [n, k]: 2 m n k floating-point operations.
struct GemmShape {
  int64_t m = 0, n = 0, k = 0;
  std::string what;  // "gpt-117m, up"
  double flops() const { return 2.0 * double(m) * double(n) * double(k); }
};
// Squares, layers of GPT, and convolutions of ResNet-50 as the products they are.
const std::vector<GemmShape>& gemm_shapes();

struct GemmRate {
  GemmShape shape;
  double best_flops = 0, median_flops = 0;  // FLOP/s
  int64_t calls = 0;
};

struct GemmCheck {
  int64_t entries = 0;  // of y, held against sums in double precision
  double worst = 0;     // largest error / allowed error
  bool passed() const { return entries > 0 && worst <= 1; }
};

struct GemmProbe {
  GemmRate peak;                      // the best shape, heated
  std::vector<GemmRate> shapes;       // every shape in turn, briefly
  std::vector<std::string> left_out;  // shapes whose call would take longer than longest_call_s
  GemmCheck check;                    // of every measured product
};

struct ProbeTimes {
  double heat_s = 1, measure_s = 2;           // of each of the two fastest shapes
  double brief_heat_s = 0.05, brief_s = 0.2;  // of every shape
  double longest_call_s = 1;
};

// The error allowed to an entry whose exact value is `exact`, the sum of k products whose sizes add up to `absolute`: fp32 sums in any
// order err by no more than 8 sqrt(k) 2^-24 of `absolute`, but for one in 10^13 (Higham & Mary 2019), and a bf16 result by 2^-8 of
// itself more.
double allowed_gemm_error(DType dtype, int64_t k, double exact, double absolute);

// Throws Error(unavailable) where the engine has no such dtype.
GemmProbe probe_gemm(Engine& engine, DType dtype, const ProbeTimes& times, Clock& clock,
                     const std::vector<GemmShape>& shapes = gemm_shapes());

}  // namespace erg
