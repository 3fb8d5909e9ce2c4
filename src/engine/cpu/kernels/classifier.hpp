// Softmax, cross-entropy and their gradient for a chunk of rows whose logits lie transposed: a class is a row of memory, so that maxima
// and sums of 16 rows are vertical, and gradients leave in the form that the gradient of the weights reads.
//   p = softmax(logits of the valid classes);  q = (1 - smoothing) onehot(target) + smoothing / valid
//   loss = -sum q log p;  d_logits = scale (p - q), zero for classes that are not valid and for ignored rows (target -1)
#pragma once
#include <cstdint>

#include "core/dtype.hpp"
#include "engine/cpu/isa.hpp"

namespace erg {

// Classes come in blocks, whose logits exist only while they are in cache, and a block in parts, one thread's each. There are as many
// whatever the number of threads: results do not depend on it.
inline constexpr int64_t classifier_parts = 64;

struct ClassifierChunk {
  DType dtype = DType::f32;  // of the gradients
  int64_t rows = 0, classes = 0, valid = 0;
  int64_t block = 0;                 // classes in a block; the last may have fewer
  const float* bias = nullptr;       // [classes], which the logits still lack; or null
  const int32_t* targets = nullptr;  // [rows]
  float smoothing = 0, scale = 1;
  void* p = nullptr;                         // [classes, rows] of `dtype`
  float *losses = nullptr, *hits = nullptr;  // [rows]: 0 where ignored; hit 1 where the target has the largest logit
  float* workspace = nullptr;                // classifier_workspace() floats

  int64_t blocks() const { return (classes + block - 1) / block; }
  int64_t first_class(int64_t b) const { return b * block; }
  int64_t classes_of(int64_t b) const { return b + 1 < blocks() ? block : classes - first_class(b); }
};

// Of every row five values; of every part and row the largest logit, the sum of e^(logit - largest) and, if smoothed, the sum of logits.
inline int64_t classifier_workspace(const ClassifierChunk& a) {
  return a.rows * (5 + a.blocks() * classifier_parts * (a.smoothing > 0 ? 3 : 2));
}

struct ClassifierKernels {
  // For every block as its logits [classes of the block, rows] are made: p = e^(logit - the part's largest), in bf16 rounded here and again
  // as a gradient. p may be the logits' memory.
  void (*exponentials)(const ClassifierChunk&, int64_t block, float* logits);
  void (*losses)(const ClassifierChunk&);                   // then losses and hits
  void (*gradient)(const ClassifierChunk&, int64_t block);  // then, for every block, d_logits in the place of p
  void (*row_sums)(DType dtype, const void* rows, int64_t count, int64_t length, float* sums, bool add);  // of [count, length]
};
ERG_KERNELS(ClassifierKernels, classifier_kernels)

}  // namespace erg
