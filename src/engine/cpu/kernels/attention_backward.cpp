// Keys down and queries across, as in forward. With P_ij made again from log_sum and D_i = d_y_i y_i (Dao 2023, algorithm 2):
//   d_v_j = sum_i p_ij d_y_i;  d_s_ij = p_ij (d_y_i v_j - D_i);  d_q_i = sum_j d_s_ij k_j / sqrt(d);  d_k_j = sum_i d_s_ij q_i / sqrt(d)
// A task owns blocks of keys of one head and all that they give to d_q, which is added up over the head's tasks at the end.
#include <omp.h>

#include "engine/cpu/kernels/head.hpp"

namespace erg::ERG_ISA {
namespace {

constexpr int64_t N = attention_block;

template <class T>
struct Backward {
  using C = Multiplied<T>;

  // What one thread works in.
  struct Space {
    C* rows;              // of a head, to pack from
    C *k, *v, *k_turned;  // left operands
    C *q_by_size, *dy_by_size, *q_by_row, *dy_by_row;
    float *log_sum, *delta;  // [queries] of the head; delta is D
    float *scores, *dp;      // [keys, queries]
    C *p, *ds, *ds_by_row;   // [keys, queries]; the last [keys / w, queries, w]
    float *dk, *dv;          // [keys, size]
    explicit Space(Arena& arena, const Heads<T>& h)
        : rows(arena.take<C>(h.elements)),
          k(arena.take<C>(h.elements)),
          v(arena.take<C>(h.elements)),
          k_turned(arena.take<C>(h.elements)),
          q_by_size(arena.take<C>(h.elements)),
          dy_by_size(arena.take<C>(h.elements)),
          q_by_row(arena.take<C>(h.elements)),
          dy_by_row(arena.take<C>(h.elements)),
          log_sum(arena.take<float>(h.sequence)),
          delta(arena.take<float>(h.sequence)),
          scores(arena.take<float>(N * N)),
          dp(arena.take<float>(N * N)),
          p(arena.take<C>(N * N)),
          ds(arena.take<C>(N * N)),
          ds_by_row(arena.take<C>(N * N)),
          dk(arena.take<float>(N * h.size)),
          dv(arena.take<float>(N * h.size)) {}
    static int64_t bytes(const Heads<T>& h) {
      Arena arena(nullptr);
      Space space(arena, h);
      return arena.taken_since(nullptr);
    }
  };

  static void pack(const Heads<T>& h, int64_t head, const Space& s) {
    const Attention& a = h.a;
    h.load(h.qkv(head, 0), h.qkv_stride(), true, s.rows);
    pack_by_size(s.rows, h.sequence, h.size, s.q_by_size);
    pack_by_row(s.rows, h.sequence, h.size, s.q_by_row);
    h.load(h.qkv(head, 1), h.qkv_stride(), true, s.k);
    turn_blocks(s.k, h.sequence, h.size, s.k_turned);
    h.load(h.qkv(head, 2), h.qkv_stride(), false, s.v);
    h.load(static_cast<const T*>(a.d_y) + h.at_y(head), h.y_stride(), false, s.rows);
    pack_by_size(s.rows, h.sequence, h.size, s.dy_by_size);
    pack_by_row(s.rows, h.sequence, h.size, s.dy_by_row);
    const T* y = static_cast<const T*>(a.y) + h.at_y(head);
    for (int64_t t = 0; t < a.sequence; ++t, y += h.y_stride()) {
      h.prefetch(y, h.y_stride());
      Sum sum;
      sweep(a.head_size, [&]<int B>(int64_t i) { sum.add(load_block<B>(s.rows + t * h.size + i) * load_block<B>(y + i)); });
      s.delta[t] = sum.total();
      s.log_sum[t] = a.log_sum[head * a.sequence + t];
    }
    for (int64_t t = a.sequence; t < h.sequence; ++t) s.delta[t] = 0, s.log_sum[t] = 1e30f;  // padding: p = 0
  }

  template <bool diagonal>
  static void probabilities(const Heads<T>& h, int64_t queries, const Space& s) {
    const float scale = h.scale * log2_e;
    for (int64_t c = 0; c < N; c += 16) {
      const F<16> log_sum = load_block<16>(s.log_sum + queries * N + c), delta = load_block<16>(s.delta + queries * N + c);
      const int64_t keys = diagonal ? c + 16 : N;
      for (int64_t r = 0; r < N; r += 2) {
        F<16> p[2] = {}, ds[2] = {};
        if (r < keys) {
          for (int i = 0; i < 2; ++i) {
            const int64_t at = (r + i) * N + c;
            p[i] = exp2<16>(load_block<16>(s.scores + at) * scale - log_sum);
            if (diagonal && r >= c) p[i] = lane_numbers < float(r + i - c) ? F<16>{} : p[i];
            ds[i] = p[i] * (load_block<16>(s.dp + at) - delta);
          }
        }
        for (int i = 0; i < 2; ++i) {
          store_block<16>(s.p + (r + i) * N + c, p[i]);
          store_block<16>(s.ds + (r + i) * N + c, ds[i]);
        }
        store_pair(s.ds_by_row + r * N + c * woven<C>, N, ds[0], ds[1]);
      }
    }
  }

  template <bool diagonal>
  static void block(const Heads<T>& h, int64_t keys, int64_t queries, const Space& s, float* dq) {
    const int64_t D = h.size, at_keys = keys * N * D, at_queries = queries * N * D;
    multiply_scores<diagonal>(D, s.k + at_keys, s.q_by_size + at_queries, s.scores);
    multiply_scores<diagonal>(D, s.v + at_keys, s.dy_by_size + at_queries, s.dp);
    probabilities<diagonal>(h, queries, s);
    multiply_over_queries<!diagonal, diagonal>(D, s.p, s.dy_by_row + at_queries, s.dv);  // the diagonal comes first
    multiply_over_queries<!diagonal, diagonal>(D, s.ds, s.q_by_row + at_queries, s.dk);
    multiply_over_keys<true, diagonal>(D, s.k_turned + at_keys, s.ds_by_row, dq + at_queries);
  }

  // dq of all tasks: [task][block][size, N].
  static int64_t workspace_bytes(const Attention& a) {
    const Heads<T> h{a};
    return a.threads * Space::bytes(h) + h.tasks() * h.elements * int64_t(sizeof(float));
  }

  static void run(const Attention& a) {
    const Heads<T> h{a};
    const int64_t tasks = h.tasks(), space_bytes = Space::bytes(h), blocks = attention_blocks(a), heads = a.batch * a.heads;
    float* const all_dq = reinterpret_cast<float*>(static_cast<char*>(a.workspace) + a.threads * space_bytes);
#pragma omp parallel num_threads(a.threads)
    {
      Arena arena(static_cast<char*>(a.workspace) + omp_get_thread_num() * space_bytes);
      const Space s(arena, h);
#pragma omp for schedule(dynamic, 1)
      for (int64_t task = 0; task < tasks; ++task) {
        float* const dq = all_dq + task * h.elements;
        std::memset(dq, 0, size_t(h.elements) * sizeof(float));
        const int64_t head = task / a.parts;
        pack(h, head, s);
        for (int64_t keys = task % a.parts; keys < blocks; keys += a.parts) {
          block<true>(h, keys, keys, s, dq);
          for (int64_t queries = keys + 1; queries < blocks; ++queries) block<false>(h, keys, queries, s, dq);
          h.store_rows(s.dk, keys * N, h.last_row(keys), h.scale, true, h.d_qkv(head, 1), h.qkv_stride());
          h.store_rows(s.dv, keys * N, h.last_row(keys), 1, false, h.d_qkv(head, 2), h.qkv_stride());
        }
      }
#pragma omp for schedule(static)
      for (int64_t item = 0; item < heads * blocks; ++item) {
        const int64_t head = item / blocks, queries = item % blocks;
        const float* const dq = all_dq + head * a.parts * h.elements + queries * N * h.size;
        float *const sum = s.dk, *const rows = s.dv;  // free by now; [size, queries], [queries, size]
        for (int64_t r = 0; r < h.size; ++r)
          for (int64_t c = 0; c < N; c += 16) {
            F<16> v = {};
            for (int64_t part = 0; part < a.parts; ++part) v += load_block<16>(dq + part * h.elements + r * N + c);
            store_block<16>(sum + r * N + c, v);
          }
        turn(sum, h.size, N, rows);
        h.store_rows(rows, queries * N, h.last_row(queries), h.scale, true, h.d_qkv(head, 0), h.qkv_stride());
      }
    }
  }
};

}  // namespace

const AttentionKernel attention_backward = {
    [](const Attention& a) { return a.dtype == DType::bf16 ? Backward<bf16>::workspace_bytes(a) : Backward<float>::workspace_bytes(a); },
    [](const Attention& a) { a.dtype == DType::bf16 ? Backward<bf16>::run(a) : Backward<float>::run(a); },
};

}  // namespace erg::ERG_ISA
