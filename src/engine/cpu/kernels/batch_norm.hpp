// Batch normalisation over images (Ioffe & Szegedy 2015) with the residual add and ReLU that follow it, in one sweep.
//   mean, var over images and pixels of each channel; rstd = 1 / sqrt(var + epsilon)
//   v = gamma (z - mean) rstd + beta + residual;  y = relu ? max(v, 0) : v
// Per-channel arrays are fp32 and as long as the blocks: what pads the last block must be 0 in gamma and beta, and stays 0 in y and dz.
#pragma once
#include "engine/cpu/isa.hpp"
#include "engine/cpu/kernels/planes.hpp"

namespace erg {

struct BatchNormForward {
  Planes shape;
  const void* z = nullptr;         // what is normalised
  const void* residual = nullptr;  // or null
  void* y = nullptr;
  bool relu = true;
  const float *gamma = nullptr, *beta = nullptr;
  float *mean = nullptr, *rstd = nullptr;                      // train: written, for backward; normalise: read
  float *running_mean = nullptr, *running_variance = nullptr;  // train: updated, with the unbiased variance as PyTorch does
  float momentum = 0.1f, epsilon = 1e-5f;
  int64_t parts = 1;           // of the batch, summed apart: batch_norm_parts()
  double* partials = nullptr;  // scratch for their sums: batch_norm_partials() doubles
};

struct BatchNormBackward {
  Planes shape;
  const void* z = nullptr;
  const void* y = nullptr;  // read only for the mask of relu after a residual; otherwise z tells it
  const void* dy = nullptr;
  void* dz = nullptr;          // may be dy or z
  void* d_residual = nullptr;  // or null; the masked dy. May be dy itself
  void* y_again = nullptr;     // or null; written: y once more. May be z itself. Not with a residual
  bool relu = true, residual = false;
  const float *gamma = nullptr, *beta = nullptr, *mean = nullptr, *rstd = nullptr;
  float *d_gamma = nullptr, *d_beta = nullptr;  // written
  int64_t parts = 1;
  double* partials = nullptr;
};

struct BatchNormKernels {
  void (*train)(const BatchNormForward&);
  void (*normalise)(const BatchNormForward&);  // with given mean and rstd: evaluation
  void (*backward)(const BatchNormBackward&);
};
ERG_KERNELS(BatchNormKernels, batch_norm_kernels)

// Into how many parts of the batch the sums of one channel block are split, so that all threads have work.
inline int64_t batch_norm_parts(const Planes& p, int64_t threads) {
  if (p.blocks() % threads == 0 || p.blocks() >= 8 * threads) return 1;
  return p.images < 4 * threads ? p.images : 4 * threads;
}
inline int64_t batch_norm_partials(const Planes& p, int64_t parts) { return parts == 1 ? 0 : p.blocks() * parts * 2 * p.block; }

}  // namespace erg
