// Both poolings work on whole channel blocks, a plane a task.
#include "engine/cpu/kernels/pool.hpp"

#include "engine/cpu/kernels/vector.hpp"

namespace erg::ERG_ISA {
namespace {

int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

template <int B>
using Byte = typename Vec<B>::Byte;

template <class T, int B>
void max_forward(const MaxPool& a) {
#pragma omp parallel for schedule(static)
  for (int64_t plane = 0; plane < a.planes; ++plane) {
    const T* x = static_cast<const T*>(a.x) + plane * a.in_height * a.in_width * B;
    for (int64_t oy = 0; oy < a.out_height; ++oy) {
      const int64_t y0 = oy * a.stride - a.padding, first_y = larger(y0, 0), last_y = smaller(y0 + a.kernel, a.in_height);
      for (int64_t ox = 0; ox < a.out_width; ++ox) {
        const int64_t x0 = ox * a.stride - a.padding, first_x = larger(x0, 0), last_x = smaller(x0 + a.kernel, a.in_width);
        F<B> best = load_block<B>(x + (first_y * a.in_width + first_x) * B);
        I<B> tap = I<B>{} + int32_t((first_y - y0) * a.kernel + (first_x - x0));
        for (int64_t iy = first_y; iy < last_y; ++iy) {
          for (int64_t ix = first_x; ix < last_x; ++ix) {
            const F<B> v = load_block<B>(x + (iy * a.in_width + ix) * B);
            const I<B> wins = (v > best) | (v != v);  // the first of equals; NaN always
            best = wins ? v : best;
            tap = wins ? I<B>{} + int32_t((iy - y0) * a.kernel + (ix - x0)) : tap;
          }
        }
        const int64_t at = ((plane * a.out_height + oy) * a.out_width + ox) * B;
        store_block<B>(static_cast<T*>(a.y) + at, best);
        if (a.taps == nullptr) continue;
        const Byte<B> bytes = __builtin_convertvector(tap, Byte<B>);
        std::memcpy(a.taps + at, &bytes, sizeof bytes);
      }
    }
  }
}

// Each input pixel collects from the windows that it won: one store a pixel, sums in fp32.
template <class T, int B>
void max_backward(const MaxPool& a) {
#pragma omp parallel for schedule(static)
  for (int64_t plane = 0; plane < a.planes; ++plane) {
    const int64_t base = plane * a.out_height * a.out_width * B;
    const T* dy = static_cast<const T*>(a.dy) + base;
    const uint8_t* taps = a.taps + base;
    T* dx = static_cast<T*>(a.dx) + plane * a.in_height * a.in_width * B;
    int64_t first_y = 0, last_y = 0;  // windows [first, last) that hold the pixel, moved along with it
    for (int64_t iy = 0; iy < a.in_height; ++iy) {
      while (first_y * a.stride + a.kernel <= iy + a.padding) ++first_y;
      while (last_y < a.out_height && last_y * a.stride <= iy + a.padding) ++last_y;
      int64_t first_x = 0, last_x = 0;
      for (int64_t ix = 0; ix < a.in_width; ++ix) {
        while (first_x * a.stride + a.kernel <= ix + a.padding) ++first_x;
        while (last_x < a.out_width && last_x * a.stride <= ix + a.padding) ++last_x;
        F<B> sum = {};
        for (int64_t oy = first_y; oy < last_y; ++oy) {
          for (int64_t ox = first_x; ox < last_x; ++ox) {
            const int64_t at = (oy * a.out_width + ox) * B;
            const int32_t tap = int32_t((iy + a.padding - oy * a.stride) * a.kernel + ix + a.padding - ox * a.stride);
            const I<B> winner = __builtin_convertvector(load_raw<Byte<B>>(taps + at), I<B>);
            sum += winner == tap ? load_block<B>(dy + at) : F<B>{};
          }
        }
        store_block<B>(dx + (iy * a.in_width + ix) * B, sum);
      }
    }
  }
}

// The pool of ResNet: windows of 3 x 3, two apart, one pixel of padding. Four windows give to each 2 x 2 pixels, at taps known beforehand:
//   pixel (2y, 2x):     tap 4 of window (y, x)
//   pixel (2y, 2x+1):   tap 5 of (y, x), tap 3 of (y, x+1)
//   pixel (2y+1, 2x):   tap 7 of (y, x), tap 1 of (y+1, x)
//   pixel (2y+1, 2x+1): tap 8 of (y, x), tap 6 of (y, x+1), tap 2 of (y+1, x), tap 0 of (y+1, x+1)
template <class T, int B>
void max_backward_of_resnet(const MaxPool& a) {
  struct Window {
    F<B> dy;
    I<B> tap;
    F<B> won(int32_t t) const { return tap == t ? dy : F<B>{}; }
  };
#pragma omp parallel for schedule(static)
  for (int64_t plane = 0; plane < a.planes; ++plane) {
    const int64_t base = plane * a.out_height * a.out_width * B;
    const auto window = [&](int64_t oy, int64_t ox) __attribute__((always_inline))->Window {
      if (oy == a.out_height || ox == a.out_width) return {F<B>{}, I<B>{} - 1};
      const int64_t at = base + (oy * a.out_width + ox) * B;
      return {load_block<B>(static_cast<const T*>(a.dy) + at), __builtin_convertvector(load_raw<Byte<B>>(a.taps + at), I<B>)};
    };
    T* const dx = static_cast<T*>(a.dx) + plane * a.in_height * a.in_width * B;
    for (int64_t oy = 0; oy < a.out_height; ++oy) {
      Window here = window(oy, 0), below = window(oy + 1, 0);
      const bool second_row = 2 * oy + 1 < a.in_height;
      T* const row = dx + 2 * oy * a.in_width * B;
      for (int64_t ox = 0; ox < a.out_width; ++ox) {
        const Window right = window(oy, ox + 1), corner = window(oy + 1, ox + 1);
        const bool second_column = 2 * ox + 1 < a.in_width;
        T *const at = row + 2 * ox * B, *const under = at + a.in_width * B;
        store_block<B>(at, here.won(4));
        if (second_column) store_block<B>(at + B, here.won(5) + right.won(3));
        if (second_row) store_block<B>(under, here.won(7) + below.won(1));
        if (second_row && second_column) store_block<B>(under + B, (here.won(8) + right.won(6)) + (below.won(2) + corner.won(0)));
        here = right, below = corner;
      }
    }
  }
}

template <class T, int B>
void mean_forward(const GlobalAvgPool& a) {
  const Planes& s = a.shape;
  const int64_t blocks = s.blocks();
#pragma omp parallel for collapse(2) schedule(static)
  for (int64_t image = 0; image < s.images; ++image) {
    for (int64_t b = 0; b < blocks; ++b) {
      const T* x = static_cast<const T*>(a.x) + (image * blocks + b) * s.pixels * B;
      F<B> sum = {};
      for (int64_t p = 0; p < s.pixels; ++p) sum += load_block<B>(x + p * B);
      sum *= float(1.0 / double(s.pixels));
      for (int64_t c = 0; c < smaller(B, s.channels - b * B); ++c) store(static_cast<T*>(a.y) + image * s.channels + b * B + c, sum[c]);
    }
  }
}

template <class T, int B>
void mean_backward(const GlobalAvgPool& a) {
  const Planes& s = a.shape;
  const int64_t blocks = s.blocks();
#pragma omp parallel for collapse(2) schedule(static)
  for (int64_t image = 0; image < s.images; ++image) {
    for (int64_t b = 0; b < blocks; ++b) {
      const T* dy = static_cast<const T*>(a.dy) + image * s.channels + b * B;
      F<B> v = {};
      for (int64_t c = 0; c < smaller(B, s.channels - b * B); ++c) v[c] = load(dy[c]);
      v *= float(1.0 / double(s.pixels));
      T* dx = static_cast<T*>(a.dx) + (image * blocks + b) * s.pixels * B;
      for (int64_t p = 0; p < s.pixels; ++p) store_block<B>(dx + p * B, v);
    }
  }
}

}  // namespace

const PoolKernels pool_kernels = {
    [](const MaxPool& a) {
      const Planes type{a.dtype, 0, 0, 0, a.block};
      with_type(type, [&]<class T, int B> { max_forward<T, B>(a); });
    },
    [](const MaxPool& a) {
      const Planes type{a.dtype, 0, 0, 0, a.block};
      const bool of_resnet = a.kernel == 3 && a.stride == 2 && a.padding == 1;
      with_type(type, [&]<class T, int B> { of_resnet ? max_backward_of_resnet<T, B>(a) : max_backward<T, B>(a); });
    },
    [](const GlobalAvgPool& a) { with_type(a.shape, [&]<class T, int B> { mean_forward<T, B>(a); }); },
    [](const GlobalAvgPool& a) { with_type(a.shape, [&]<class T, int B> { mean_backward<T, B>(a); }); },
};

}  // namespace erg::ERG_ISA
