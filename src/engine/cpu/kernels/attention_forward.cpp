// Everything is transposed, keys down and queries across: maxima, sums and rescaling of a query are then vertical, without shuffles, and
// the probabilities leave in the form that the next product reads.
#include <omp.h>

#include <cmath>

#include "engine/cpu/kernels/head.hpp"

namespace erg::ERG_ISA {
namespace {

constexpr int64_t N = attention_block;

template <class T>
struct Forward {
  using C = Multiplied<T>;

  // What one thread works in.
  struct Space {
    C *rows, *k, *v_turned, *q;  // of a head: to pack from; rows, turned, by size
    C* p;                        // [keys / w, queries, w]
    float *scores, *y, *y_rows;  // [keys, queries], [size, queries], [queries, size]
    float *largest, *sum;        // [queries], of scale log2(e) score
    explicit Space(Arena& arena, const Heads<T>& h)
        : rows(arena.take<C>(h.elements)),
          k(arena.take<C>(h.elements)),
          v_turned(arena.take<C>(h.elements)),
          q(arena.take<C>(h.elements)),
          p(arena.take<C>(N * N)),
          scores(arena.take<float>(N * N)),
          y(arena.take<float>(N * h.size)),
          y_rows(arena.take<float>(N * h.size)),
          largest(arena.take<float>(N)),
          sum(arena.take<float>(N)) {}
    static int64_t bytes(const Heads<T>& h) {
      Arena arena(nullptr);
      Space space(arena, h);
      return arena.taken_since(nullptr);
    }
  };

  static void pack(const Heads<T>& h, int64_t head, const Space& s) {
    h.load(h.qkv(head, 0), h.qkv_stride(), true, s.rows);
    pack_by_size(s.rows, h.sequence, h.size, s.q);
    h.load(h.qkv(head, 2), h.qkv_stride(), false, s.rows);
    turn_blocks(s.rows, h.sequence, h.size, s.v_turned);
    h.load(h.qkv(head, 1), h.qkv_stride(), true, s.k);
  }

  // Scores of one block of keys to probabilities, relative to the largest score so far; what was summed before is brought to it.
  template <bool diagonal>
  static void softmax(const Heads<T>& h, const Space& s, bool first) {
    const float scale = h.scale * log2_e;
    for (int64_t c = 0; c < N; c += 16) {
      float* const scores = s.scores + c;
      const int64_t keys = diagonal ? c + 16 : N;  // further ones come later than all of these queries
      if constexpr (diagonal) {
        for (int64_t r = 0; r < 16; ++r) {
          float* const row = scores + (c + r) * N;
          store_block<16>(row, lane_numbers < float(r) ? F<16>{} - 1e30f : load_block<16>(row));
        }
      }
      F<16> block_largest = load_block<16>(scores);
      for (int64_t r = 1; r < keys; ++r) block_largest = larger<16>(load_block<16>(scores + r * N), block_largest);
      block_largest *= scale;
      F<16> largest = block_largest, sum = {};
      if (!first) {
        const F<16> before = load_block<16>(s.largest + c);
        largest = larger<16>(before, largest);
        const F<16> shrink = exp2<16>(before - largest);
        sum = load_block<16>(s.sum + c) * shrink;
        for (int64_t r = 0; r < h.size; ++r) store_block<16>(s.y + r * N + c, load_block<16>(s.y + r * N + c) * shrink);
      }
      for (int64_t r = 0; r < keys; r += 2) {
        const F<16> p0 = exp2<16>(load_block<16>(scores + r * N) * scale - largest);
        const F<16> p1 = exp2<16>(load_block<16>(scores + (r + 1) * N) * scale - largest);
        sum += p0 + p1;
        store_pair(s.p + r * N + c * woven<C>, N, p0, p1);
      }
      for (int64_t r = keys; r < N; r += 2) store_pair(s.p + r * N + c * woven<C>, N, F<16>{}, F<16>{});
      store_block<16>(s.largest + c, largest);
      store_block<16>(s.sum + c, sum);
    }
  }

  template <bool diagonal>
  static void keys(const Heads<T>& h, int64_t keys, int64_t queries, const Space& s) {
    multiply_scores<diagonal>(h.size, s.k + keys * N * h.size, s.q + queries * N * h.size, s.scores);
    softmax<diagonal>(h, s, keys == 0);
    const C* const v = s.v_turned + keys * N * h.size;
    if (keys == 0) return multiply_over_keys<false, diagonal>(h.size, v, s.p, s.y);
    multiply_over_keys<true, diagonal>(h.size, v, s.p, s.y);
  }

  static void queries(const Heads<T>& h, int64_t head, int64_t block, const Space& s) {
    for (int64_t b = 0; b < block; ++b) keys<false>(h, b, block, s);
    keys<true>(h, block, block, s);
    for (int64_t c = 0; c < N; c += 16) {
      const F<16> inverse = 1.0f / load_block<16>(s.sum + c);
      for (int64_t r = 0; r < h.size; ++r) store_block<16>(s.y + r * N + c, load_block<16>(s.y + r * N + c) * inverse);
    }
    turn(s.y, h.size, N, s.y_rows);
    const int64_t first = block * N, last = h.last_row(block);
    h.store_rows(s.y_rows, first, last, 1, false, static_cast<T*>(h.a.y) + h.at_y(head), h.y_stride());
    if (h.a.log_sum == nullptr) return;
    float* const log_sum = h.a.log_sum + head * h.a.sequence;
    for (int64_t t = first; t < last; ++t) log_sum[t] = s.largest[t - first] + std::log2(s.sum[t - first]);
  }

  static int64_t workspace_bytes(const Attention& a) { return a.threads * Space::bytes(Heads<T>{a}); }

  static void run(const Attention& a) {
    const Heads<T> h{a};
    const int64_t tasks = h.tasks(), space_bytes = Space::bytes(h), blocks = attention_blocks(a);
#pragma omp parallel for schedule(dynamic, 1) num_threads(a.threads)
    for (int64_t task = 0; task < tasks; ++task) {
      Arena arena(static_cast<char*>(a.workspace) + omp_get_thread_num() * space_bytes);
      const Space space(arena, h);
      const int64_t head = task / a.parts;
      pack(h, head, space);
      for (int64_t block = task % a.parts; block < blocks; block += a.parts) queries(h, head, block, space);
    }
  }
};

}  // namespace

const AttentionKernel attention_forward = {
    [](const Attention& a) { return a.dtype == DType::bf16 ? Forward<bf16>::workspace_bytes(a) : Forward<float>::workspace_bytes(a); },
    [](const Attention& a) { a.dtype == DType::bf16 ? Forward<bf16>::run(a) : Forward<float>::run(a); },
};

}  // namespace erg::ERG_ISA
