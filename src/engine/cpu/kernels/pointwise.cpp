// Planes of a block are too far apart for the hardware to prefetch, so the next chunk is asked for while this one is multiplied.
// A task owns up to 16 x 16 blocks of dw and some of the images. It goes through their pixels in chunks whose two operands, packed for
// multiply_add(), fit the first cache; pairs of bf16 pixels are woven, across images too, so that no half of a pair is wasted.
#include "engine/cpu/kernels/pointwise.hpp"

#include <omp.h>

#include <cstring>

#include "engine/cpu/kernels/multiply.hpp"
#include "engine/cpu/kernels/transpose.hpp"

namespace erg::ERG_ISA {
namespace {

constexpr int64_t W = 16, tile_blocks = 16, chunk_rows = 64;  // rows of packed operands: pixels, or pairs of pixels in bf16
constexpr int64_t block_size = W * W;

int64_t ceiling(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// How the work is cut: tiles of dw, times parts of the images where there are too few tiles to keep all threads busy.
struct Cut {
  int64_t out_tiles, in_tiles, parts;
  explicit Cut(const PointwiseGradient& a) : out_tiles(ceiling(a.out_blocks, tile_blocks)), in_tiles(ceiling(a.in_blocks, tile_blocks)) {
    const int64_t tiles = out_tiles * in_tiles;
    parts = smaller(a.images, ceiling(4 * a.threads, tiles));
  }
  int64_t tasks() const { return out_tiles * in_tiles * parts; }
};

template <class T>
struct Gradient {
  using C = Multiplied<T>;
  static constexpr int64_t w = woven<C>, packed_block = chunk_rows * W * w;

  const PointwiseGradient& a;
  const Cut cut{a};
  const int64_t out_width = a.out_width(), out_pixels = a.out_height() * out_width, in_pixels = a.in_height * a.in_width;

  // Where a pixel lies in block 0 of its image, in elements.
  struct Place {
    int64_t x, dz;
  };
  struct Space {
    Place places[chunk_rows * 2];
    alignas(64) C x[tile_blocks * packed_block];
    alignas(64) C dz[tile_blocks * packed_block];
  };

  int64_t weights() const { return a.out_blocks * a.in_blocks * block_size; }
  int64_t spaces_bytes() const { return a.threads * int64_t(sizeof(Space)); }
  int64_t workspace_bytes() const { return spaces_bytes() + (cut.parts > 1 ? cut.parts * weights() * int64_t(sizeof(float)) : 0); }

  // Block b of `rows` rows, each of w pixels; missing last halves of pairs are 0.
  template <class Offset>
  static void pack(const T* from, Offset offset, int64_t pixels, C* to) {
    for (int64_t p = 0; p < pixels; p += w, to += W * w) {
      if constexpr (w == 2) {
        static constexpr T zeros[W] = {};
        const Words words = weave(from + offset(p), p + 1 < pixels ? from + offset(p + 1) : zeros);
        std::memcpy(to, &words, sizeof words);
      } else {
        store_block<W>(to, load_block<W>(from + offset(p)));
      }
    }
  }

  // Brings the next chunk's lines into the second cache, a few at a time: `lines` of each of `planes` planes.
  struct Ahead {
    const char* plane;
    int64_t plane_bytes, lines, planes, line = 0;
    void operator()(int64_t count) {
      for (; count > 0 && planes > 0; --count) {
        __builtin_prefetch(plane + 64 * line, 0, 2);
        if (++line < lines) continue;
        line = 0, plane += plane_bytes, --planes;
      }
    }
  };

  // c [4 in][vectors x 16 out] += x^T dz over `rows`.
  template <int vectors>
  static void tile(int64_t rows, const C* x, const C* dz, float* c, int64_t c_stride) {
    F<W> sums[4][vectors];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < vectors; ++j) sums[i][j] = load_block<W>(c + j * c_stride + i * W);
    for (int64_t r = 0; r < rows; ++r, x += W * w, dz += W * w) {
      F<W> row[vectors];
#pragma GCC unroll 4
      for (int j = 0; j < vectors; ++j) row[j] = load_raw<F<W>>(dz + j * packed_block);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i)
#pragma GCC unroll 4
        for (int j = 0; j < vectors; ++j) sums[i][j] = multiply_add(sums[i][j], x + i * w, row[j]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < vectors; ++j) store_block<W>(c + j * c_stride + i * W, sums[i][j]);
  }

  void run(int64_t task, Space& s, float* dw) const {
    const int64_t part = task % cut.parts, in_tile = task / cut.parts % cut.in_tiles, out_tile = task / cut.parts / cut.in_tiles;
    const int64_t first_in = in_tile * tile_blocks, ins = smaller(tile_blocks, a.in_blocks - first_in);
    const int64_t first_out = out_tile * tile_blocks, outs = smaller(tile_blocks, a.out_blocks - first_out);
    const int64_t c_stride = a.in_blocks * block_size;
    float* const c = dw + part * weights() + first_out * c_stride + first_in * block_size;
    for (int64_t o = 0; o < outs; ++o) std::memset(c + o * c_stride, 0, size_t(ins * block_size) * sizeof(float));

    const T *const x = static_cast<const T*>(a.x) + first_in * in_pixels * W, *const dz =
                                                                                  static_cast<const T*>(a.dz) + first_out * out_pixels * W;
    int64_t image = a.images * part / cut.parts, oy = 0, ox = 0;
    const int64_t end = a.images * (part + 1) / cut.parts;
    while (image < end) {
      int64_t pixels = 0;
      for (; pixels < chunk_rows * w && image < end; ++pixels) {
        s.places[pixels] = {(image * a.in_blocks * in_pixels + (oy * a.in_width + ox) * a.stride) * W,
                            (image * a.out_blocks * out_pixels + oy * out_width + ox) * W};
        if (++ox == out_width) ox = 0, ++oy;
        if (oy == a.out_height()) oy = 0, ++image;
      }
      for (int64_t b = 0; b < ins; ++b)
        pack(
            x + b * in_pixels * W, [&](int64_t p) { return s.places[p].x; }, pixels, s.x + b * packed_block);
      for (int64_t b = 0; b < outs; ++b)
        pack(
            dz + b * out_pixels * W, [&](int64_t p) { return s.places[p].dz; }, pixels, s.dz + b * packed_block);
      const int64_t rows = ceiling(pixels, w), lines = chunk_rows * w * W * int64_t(sizeof(T)) / 64;
      const int64_t tiles = ceiling(outs, widest_tile) * ins * 4;
      const bool more = image < end;
      Ahead x_ahead{reinterpret_cast<const char*>(x + (image * a.in_blocks * in_pixels + (oy * a.in_width + ox) * a.stride) * W),
                    in_pixels * W * int64_t(sizeof(T)), a.stride * lines, more ? ins : 0};
      Ahead dz_ahead{reinterpret_cast<const char*>(dz + (image * a.out_blocks * out_pixels + oy * out_width + ox) * W),
                     out_pixels * W * int64_t(sizeof(T)), lines, more ? outs : 0};
      const int64_t x_lines = ceiling(x_ahead.planes * x_ahead.lines, tiles), dz_lines = ceiling(dz_ahead.planes * lines, tiles);
      int64_t o = 0;
      const auto columns = [&]<int vectors> {
        for (; o + vectors <= outs; o += vectors)
          for (int64_t b = 0; b < ins; ++b)
            for (int64_t i = 0; i < W; i += 4) {
              x_ahead(x_lines);
              dz_ahead(dz_lines);
              tile<vectors>(rows, s.x + b * packed_block + i * w, s.dz + o * packed_block, c + o * c_stride + b * block_size + i * W,
                            c_stride);
            }
      };
      columns.template operator()<widest_tile>();
      if constexpr (widest_tile > 2) columns.template operator()<2>();
      if constexpr (widest_tile > 1) columns.template operator()<1>();
    }
  }

  void operator()() const {
    Space* const spaces = static_cast<Space*>(a.workspace);
    float* const sums = cut.parts == 1 ? a.dw : reinterpret_cast<float*>(static_cast<char*>(a.workspace) + spaces_bytes());
    const int64_t tasks = cut.tasks(), count = weights();
#pragma omp parallel num_threads(a.threads)
    {
      Space& space = spaces[omp_get_thread_num()];
#pragma omp for schedule(static)
      for (int64_t task = 0; task < tasks; ++task) run(task, space, sums);
      if (cut.parts > 1) {
#pragma omp for schedule(static)
        for (int64_t at = 0; at < count; at += W) {
          F<W> sum = {};
          for (int64_t part = 0; part < cut.parts; ++part) sum += load_block<W>(sums + part * count + at);
          store_block<W>(a.dw + at, sum);
        }
      }
    }
  }
};

}  // namespace

const PointwiseKernels pointwise_kernels = {
    [](const PointwiseGradient& a) {
      return a.dtype == DType::bf16 ? Gradient<bf16>{a}.workspace_bytes() : Gradient<float>{a}.workspace_bytes();
    },
    [](const PointwiseGradient& a) { a.dtype == DType::bf16 ? Gradient<bf16>{a}() : Gradient<float>{a}(); },
};

}  // namespace erg::ERG_ISA
