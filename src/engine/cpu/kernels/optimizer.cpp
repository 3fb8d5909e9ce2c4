#include "engine/cpu/kernels/optimizer.hpp"

#include "engine/cpu/kernels/bf16.hpp"

namespace erg::ERG_ISA {
namespace {

template <class G>
void squares(const G* gradient, int64_t elements, double* sums) {
#pragma omp parallel for schedule(static)
  for (int64_t part = 0; part < norm_parts; ++part) {
    const int64_t last = elements / norm_parts * (part + 1) + (part + 1 == norm_parts ? elements % norm_parts : 0);
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = elements / norm_parts * part; i < last; ++i) {
      const double g = load(gradient[i]);
      sum += g * g;
    }
    sums[part] = sum;
  }
}

struct NoCopy {};
[[gnu::always_inline]] inline void set(NoCopy*, float) {}
[[gnu::always_inline]] inline void set(bf16* copy, float w) { store(copy, w); }

template <class G, class Copy>
struct Arrays {
  float *w, *m, *v;
  Copy* copy;
  const G* g;

  explicit Arrays(const OptimizerArrays& a)
      : w(a.master), m(a.state1), v(a.state2), copy(static_cast<Copy*>(a.copy)), g(static_cast<const G*>(a.gradient)) {}

  void adamw(int64_t first, int64_t last, AdamW s) const {
#pragma omp parallel for simd schedule(static)
    for (int64_t i = first; i < last; ++i) {
      const float gi = s.clip * load(g[i]);
      m[i] += s.one_minus_beta1 * (gi - m[i]);
      v[i] = s.beta2 * v[i] + s.one_minus_beta2 * gi * gi;
      w[i] = w[i] * s.shrink - s.step_size * (m[i] / (__builtin_sqrtf(v[i]) / s.root_correction2 + s.epsilon));
      set(copy + i, w[i]);
    }
  }
  void sgd(int64_t first, int64_t last, Sgd s) const {
    if (s.first) s.momentum = 0;
#pragma omp parallel for simd schedule(static)
    for (int64_t i = first; i < last; ++i) {
      m[i] = s.momentum * m[i] + (load(g[i]) + s.decay * w[i]);
      w[i] -= s.learning_rate * m[i];
      set(copy + i, w[i]);
    }
  }
};

template <class Function>
void with_types(const OptimizerArrays& a, Function f) {
  if (a.gradient_dtype == DType::bf16) return a.copy ? f(Arrays<bf16, bf16>(a)) : f(Arrays<bf16, NoCopy>(a));
  a.copy ? f(Arrays<float, bf16>(a)) : f(Arrays<float, NoCopy>(a));
}

}  // namespace

const OptimizerKernels optimizer_kernels = {
    [](DType dtype, const void* gradient, int64_t elements, double* sums) {
      if (dtype == DType::bf16) return squares(static_cast<const bf16*>(gradient), elements, sums);
      squares(static_cast<const float*>(gradient), elements, sums);
    },
    [](const OptimizerArrays& a, const AdamW& s) {
      AdamW no_decay = s;
      no_decay.shrink = 1;
      with_types(a, [&](const auto& arrays) {
        arrays.adamw(0, a.decay_elements, s);
        arrays.adamw(a.decay_elements, a.elements, no_decay);
      });
    },
    [](const OptimizerArrays& a, const Sgd& s) {
      Sgd no_decay = s;
      no_decay.decay = 0;
      with_types(a, [&](const auto& arrays) {
        arrays.sgd(0, a.decay_elements, s);
        arrays.sgd(a.decay_elements, a.elements, no_decay);
      });
    },
};

}  // namespace erg::ERG_ISA
