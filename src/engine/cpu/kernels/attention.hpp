// Causal self-attention in blocks of 64 queries x 64 keys (Dao et al. 2022, Dao 2023): scores exist only block by block, in cache; blocks
// above the diagonal are skipped; forward keeps one log-sum-exp a query, from which backward makes the probabilities again.
//   p_ij = exp(q_i k_j / sqrt(d) - log_sum_i),  y_i = sum over j <= i of p_ij v_j
#pragma once
#include <cstdint>

#include "core/dtype.hpp"
#include "engine/cpu/isa.hpp"

namespace erg {

struct Attention {
  DType dtype = DType::f32;
  int64_t batch = 0, sequence = 0, heads = 0, head_size = 0;
  const float *cos = nullptr, *sin = nullptr;  // [sequence, head_size / 2] of the rotary angles, or null
  float* log_sum = nullptr;                    // [batch, heads, sequence], to base 2; forward writes it unless null
  const void* qkv = nullptr;                   // [batch, sequence, 3, heads, head_size]
  void* y = nullptr;                           // [batch, sequence, heads, head_size]: forward writes it
  const void* d_y = nullptr;
  void* d_qkv = nullptr;  // backward writes it

  int64_t parts = 1;  // each head's work is split into so many tasks
  int threads = 1;
  void* workspace = nullptr;
};

inline constexpr int64_t attention_block = 64;
inline int64_t attention_blocks(const Attention& a) { return (a.sequence + attention_block - 1) / attention_block; }
// Enough tasks for all threads to finish at about the same time. More parts cost more: each packs its head again.
inline int64_t attention_parts(const Attention& a) {
  const int64_t heads = a.batch * a.heads, wanted = (4 * a.threads + heads - 1) / heads;
  return wanted < attention_blocks(a) ? wanted : attention_blocks(a);
}

struct AttentionKernel {
  int64_t (*workspace_bytes)(const Attention&);
  void (*run)(const Attention&);
};
ERG_KERNELS(AttentionKernel, attention_forward)
ERG_KERNELS(AttentionKernel, attention_backward)

}  // namespace erg
