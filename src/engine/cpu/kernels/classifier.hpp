// Softmax, cross-entropy and their gradient for a chunk of rows in one go.
//   p = softmax(logits of the valid classes);  q = (1 - smoothing) onehot(target) + smoothing / valid
//   loss = -sum q log p;  d_logits = scale (p - q), zero for classes that are not valid and for ignored rows (target -1)
#pragma once
#include <cstdint>

#include "core/dtype.hpp"
#include "engine/cpu/isa.hpp"

namespace erg {

struct ClassifierChunk {
  DType dtype = DType::f32;  // of the gradients
  int64_t rows = 0, classes = 0, valid = 0;
  float* logits = nullptr;           // [rows, classes]
  const int32_t* targets = nullptr;  // [rows]
  float smoothing = 0, scale = 1;
  float *losses = nullptr, *hits = nullptr;  // [rows]: 0 where ignored; hit 1 where the target has the largest logit
  void* d_logits = nullptr;                  // train: [rows, classes]; in fp32 it may be the logits' memory
  void* transposed = nullptr;                // train: d_logits as [classes, rows]
};

struct ClassifierKernels {
  void (*train)(const ClassifierChunk&);
  void (*evaluate)(const ClassifierChunk&);  // losses without smoothing, and hits
  void (*row_sums)(DType dtype, const void* rows, int64_t count, int64_t length, float* sums, bool add);  // of [count, length]
};
ERG_KERNELS(ClassifierKernels, classifier_kernels)

}  // namespace erg
