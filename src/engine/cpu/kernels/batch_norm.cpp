// A channel block is summed and then normalised by the same thread while it is in cache: the blocked layout is what allows that.
// Where there are fewer blocks than threads, the batch is split, the sums of its parts are combined, and everyone normalises.
#include "engine/cpu/kernels/batch_norm.hpp"

#include <cmath>

#include "engine/cpu/kernels/vector.hpp"

namespace erg::ERG_ISA {
namespace {

// sums(part of the batch, block, double[2 * B]) -> finish(block, double[2 * B]) -> apply(image, block), each on the whole tensor.
template <int B, class Sums, class Finish, class Apply>
[[gnu::always_inline]] inline void two_sweeps(const Planes& shape, int64_t parts, double* partials, Sums sums, Finish finish, Apply apply) {
  const int64_t blocks = shape.blocks(), images = shape.images;
  if (parts == 1) {
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < blocks; ++b) {
      double total[2 * B] = {};
      sums(0, images, b, total);
      finish(b, total);
      for (int64_t i = images - 1; i >= 0; --i) apply(i, b);  // backwards: the last ones summed are still in the nearest cache
    }
    return;
  }
#pragma omp parallel
  {
#pragma omp for collapse(2) schedule(static)
    for (int64_t b = 0; b < blocks; ++b) {
      for (int64_t p = 0; p < parts; ++p) {
        double part[2 * B] = {};
        sums(images * p / parts, images * (p + 1) / parts, b, part);
        std::memcpy(partials + (b * parts + p) * 2 * B, part, sizeof part);
      }
    }
#pragma omp for schedule(static)
    for (int64_t b = 0; b < blocks; ++b) {
      double total[2 * B] = {};
      for (int64_t p = 0; p < parts; ++p) {
        for (int c = 0; c < 2 * B; ++c) total[c] += partials[(b * parts + p) * 2 * B + c];
      }
      finish(b, total);
    }
#pragma omp for collapse(2) schedule(static)
    for (int64_t b = 0; b < blocks; ++b) {
      for (int64_t i = 0; i < images; ++i) apply(i, b);
    }
  }
}

// The sweep that sums reads what no cache holds, a plane of each image, and the hardware begins to prefetch anew in each plane. So each
// line is asked for some pixels ahead, or, where planes are small, while the same pixel of the image before is summed.
[[gnu::always_inline]] inline int64_t elements_ahead(const Planes& s) {
  constexpr int64_t pixels_ahead = 96;
  return s.pixels > 2 * pixels_ahead ? pixels_ahead * s.block : s.blocks() * s.pixels * s.block;
}
template <int B, class T>
[[gnu::always_inline]] inline void ask_for(const T* four_blocks) {
  for (size_t i = 0; i < 4 * B; i += 64 / sizeof(T)) __builtin_prefetch(four_blocks + i);
}

template <int B>
[[gnu::always_inline]] inline void add_to(double* to, F<B> v) {
  for (int c = 0; c < B; ++c) to[c] += double(v[c]);
}

// y = scale z + shift; forward and backward must agree on the sign of it, so both have it from here.
template <int B>
struct Affine {
  F<B> scale, shift;
  [[gnu::always_inline]] Affine(const float* gamma, const float* beta, const float* mean, const float* rstd) {
    scale = load_block<B>(gamma) * load_block<B>(rstd);
    shift = load_block<B>(beta) - load_block<B>(mean) * scale;
  }
  [[gnu::always_inline]] F<B> operator()(F<B> z) const { return z * scale + shift; }
};

// NaN passes.
template <int B>
[[gnu::always_inline]] inline F<B> relu(F<B> v) {
  return v < 0.0f ? F<B>{} : v;
}

template <class T, int B>
[[gnu::always_inline]] inline void normalise_plane(const BatchNormForward& a, int64_t image, int64_t block) {
  const int64_t count = a.shape.pixels * B, at = (image * a.shape.blocks() + block) * count;
  const Affine<B> affine(a.gamma + block * B, a.beta + block * B, a.mean + block * B, a.rstd + block * B);
  const T* z = static_cast<const T*>(a.z) + at;
  T* y = static_cast<T*>(a.y) + at;
  if (a.residual != nullptr) {
    const T* residual = static_cast<const T*>(a.residual) + at;
    const bool with_relu = a.relu;
    for (int64_t i = 0; i < count; i += B) {
      const F<B> v = affine(load_block<B>(z + i)) + load_block<B>(residual + i);
      store_block<B>(y + i, with_relu ? relu<B>(v) : v);
    }
  } else if (a.relu) {
    for (int64_t i = 0; i < count; i += B) store_block<B>(y + i, relu<B>(affine(load_block<B>(z + i))));
  } else {
    for (int64_t i = 0; i < count; i += B) store_block<B>(y + i, affine(load_block<B>(z + i)));
  }
}

// Sums of d and d^2, d = z - shift. A shift near the mean is what makes one sweep safe: var = E[d^2] - E[d]^2 then cancels little.
// Four chains in fp32 within a plane, double between planes.
template <class T, int B>
[[gnu::always_inline]] inline void sum_plane(const T* z, int64_t pixels, int64_t ahead, F<B> shift, double* total) {
  F<B> sum[4] = {}, square[4] = {};
  int64_t p = 0;
  for (; p + 4 <= pixels; p += 4) {
    ask_for<B>(z + p * B + ahead);
    for (int u = 0; u < 4; ++u) {
      const F<B> d = load_block<B>(z + (p + u) * B) - shift;
      sum[u] += d;
      square[u] += d * d;
    }
  }
  for (; p < pixels; ++p) {
    const F<B> d = load_block<B>(z + p * B) - shift;
    sum[0] += d;
    square[0] += d * d;
  }
  add_to<B>(total, (sum[0] + sum[1]) + (sum[2] + sum[3]));
  add_to<B>(total + B, (square[0] + square[1]) + (square[2] + square[3]));
}

template <class T, int B>
void train(const BatchNormForward& a) {
  const Planes& s = a.shape;
  const T* z = static_cast<const T*>(a.z);
  const double count = double(s.images) * double(s.pixels);
  const int64_t ahead = elements_ahead(s);
  const auto plane = [&](int64_t image, int64_t block) { return z + (image * s.blocks() + block) * s.pixels * B; };
  two_sweeps<B>(
      s, a.parts, a.partials,
      [&](int64_t first, int64_t last, int64_t block, double* total) {
        const F<B> shift = load_block<B>(plane(0, block));  // any pixel is near enough to the mean
        for (int64_t i = first; i < last; ++i) sum_plane<T, B>(plane(i, block), s.pixels, ahead, shift, total);
      },
      [&](int64_t block, const double* total) {
        const F<B> shift = load_block<B>(plane(0, block));
        for (int c = 0; c < B; ++c) {
          const int64_t at = block * B + c;
          const double d = total[c] / count, variance = std::fmax(0.0, total[B + c] / count - d * d), mean = double(shift[c]) + d;
          a.mean[at] = float(mean);
          a.rstd[at] = float(1.0 / std::sqrt(variance + double(a.epsilon)));
          const double unbiased = count > 1 ? variance * count / (count - 1) : variance;
          a.running_mean[at] += a.momentum * (float(mean) - a.running_mean[at]);
          a.running_variance[at] += a.momentum * (float(unbiased) - a.running_variance[at]);
        }
      },
      [&](int64_t image, int64_t block) { normalise_plane<T, B>(a, image, block); });
}

template <class T, int B>
void normalise(const BatchNormForward& a) {
  const int64_t blocks = a.shape.blocks();
#pragma omp parallel for collapse(2) schedule(static)
  for (int64_t b = 0; b < blocks; ++b) {
    for (int64_t i = 0; i < a.shape.images; ++i) normalise_plane<T, B>(a, i, b);
  }
}

enum class Mask { none, from_z, from_y };  // where relu's sign is seen

template <Mask M, int B, class T>
[[gnu::always_inline]] inline F<B> masked(F<B> dy, F<B> z, const T* y, const Affine<B>& affine) {
  if constexpr (M == Mask::from_z) return affine(z) <= 0.0f ? F<B>{} : dy;
  if constexpr (M == Mask::from_y) return load_block<B>(y) <= 0.0f ? F<B>{} : dy;
  return dy;
}

// With g the masked dy and n values a channel (Ioffe & Szegedy 2015, section 3):
//   d_beta = sum g, d_gamma = sum g (z - mean) rstd
//   dz = gamma rstd (g - d_beta / n - (z - mean) rstd d_gamma / n)
template <class T, int B, Mask M>
void backward_masked(const BatchNormBackward& a) {
  const Planes& s = a.shape;
  const T *z = static_cast<const T*>(a.z), *y = static_cast<const T*>(a.y), *dy = static_cast<const T*>(a.dy);
  T *dz = static_cast<T*>(a.dz), *d_residual = static_cast<T*>(a.d_residual), *y_again = static_cast<T*>(a.y_again);
  const int64_t count = s.pixels * B, blocks = s.blocks(), ahead = elements_ahead(s);
  const float share = float(1.0 / (double(s.images) * double(s.pixels)));
  two_sweeps<B>(
      s, a.parts, a.partials,
      [&](int64_t first, int64_t last, int64_t block, double* total) {
        const int64_t c = block * B;
        const Affine<B> affine(a.gamma + c, a.beta + c, a.mean + c, a.rstd + c);
        const F<B> mean = load_block<B>(a.mean + c);
        for (int64_t image = first; image < last; ++image) {
          const int64_t at = (image * blocks + block) * count;
          F<B> sum[4] = {}, product[4] = {};
          int64_t i = at;
          const auto step = [&](int u, int64_t j) __attribute__((always_inline)) {
            const F<B> zj = load_block<B>(z + j), g = masked<M, B>(load_block<B>(dy + j), zj, y + j, affine);
            sum[u] += g;
            product[u] += g * (zj - mean);
          };
          for (; i + 4 * B <= at + count; i += 4 * B) {
            ask_for<B>(z + i + ahead);
            ask_for<B>(dy + i + ahead);
            if constexpr (M == Mask::from_y) ask_for<B>(y + i + ahead);
            for (int u = 0; u < 4; ++u) step(u, i + u * B);
          }
          for (; i < at + count; i += B) step(0, i);
          add_to<B>(total, (sum[0] + sum[1]) + (sum[2] + sum[3]));
          add_to<B>(total + B, (product[0] + product[1]) + (product[2] + product[3]));
        }
      },
      [&](int64_t block, const double* total) {
        for (int c = 0; c < B; ++c) {
          a.d_beta[block * B + c] = float(total[c]);
          a.d_gamma[block * B + c] = float(total[B + c] * double(a.rstd[block * B + c]));
        }
      },
      [&](int64_t image, int64_t block) {
        const int64_t c = block * B, at = (image * blocks + block) * count;
        const Affine<B> affine(a.gamma + c, a.beta + c, a.mean + c, a.rstd + c);
        const F<B> mean = load_block<B>(a.mean + c), rstd = load_block<B>(a.rstd + c), scale = load_block<B>(a.gamma + c) * rstd;
        const F<B> of_z = scale * rstd * load_block<B>(a.d_gamma + c) * share, constant = scale * load_block<B>(a.d_beta + c) * share;
        // Outputs may lie where inputs do, so each block is read whole before it is written.
        const auto each = [&](auto also) __attribute__((always_inline)) {
          for (int64_t i = at; i < at + count; i += B) {
            const F<B> zi = load_block<B>(z + i), g = masked<M, B>(load_block<B>(dy + i), zi, y + i, affine);
            also(i, zi, g);
            store_block<B>(dz + i, scale * g - of_z * (zi - mean) - constant);
          }
        };
        if (d_residual) return each([&](int64_t i, F<B>, F<B> g) { store_block<B>(d_residual + i, g); });
        if (!y_again) return each([](int64_t, F<B>, F<B>) {});
        each([&](int64_t i, F<B> zi, F<B>) { store_block<B>(y_again + i, M == Mask::none ? affine(zi) : relu<B>(affine(zi))); });
      });
}

template <class T, int B>
void backward(const BatchNormBackward& a) {
  if (!a.relu) return backward_masked<T, B, Mask::none>(a);
  if (a.residual) return backward_masked<T, B, Mask::from_y>(a);
  return backward_masked<T, B, Mask::from_z>(a);
}

}  // namespace

const BatchNormKernels batch_norm_kernels = {
    [](const BatchNormForward& a) { with_type(a.shape, [&]<class T, int B> { train<T, B>(a); }); },
    [](const BatchNormForward& a) { with_type(a.shape, [&]<class T, int B> { normalise<T, B>(a); }); },
    [](const BatchNormBackward& a) { with_type(a.shape, [&]<class T, int B> { backward<T, B>(a); }); },
};

}  // namespace erg::ERG_ISA
