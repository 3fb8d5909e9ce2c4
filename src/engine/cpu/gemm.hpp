// Matrix products of a fixed size by oneDNN, with B reordered first where that pays: oneDNN runs at its peak only on its own layout of B,
// 4 to 8 % above what it reaches on plain ones, and more where B is large. The reordered B lives in scratch, within one op call.
#pragma once
#include <algorithm>

#include "engine/cpu/onednn.hpp"
#include "engine/op.hpp"

namespace erg {

// C [m, n] = A [m, k] B [k, n] (+ bias [n]), or C += A B. Sums are fp32.
struct GemmDesc {
  int64_t m = 0, n = 0, k = 0;
  DType operands = DType::f32, result = DType::f32;
  bool a_transposed = false;  // A lies as [k, m]
  bool b_transposed = false;  // B lies as [n, k]
  bool bias = false;          // fp32
  bool accumulate = false;
};

class Gemm {
 public:
  Gemm() = default;
  explicit Gemm(const GemmDesc& d);

  int64_t scratch_bytes() const;
  // pack() readies `scratch` for any number of multiply() with the same B.
  void pack(const void* b, void* scratch);
  void multiply(const void* a, const void* b, void* c, void* scratch, const float* bias = nullptr);
  void operator()(const void* a, const void* b, void* c, void* scratch, const float* bias = nullptr) {
    pack(b, scratch);
    multiply(a, b, c, scratch, bias);
  }

 private:
  onednn::Call pack_, multiply_;
  int64_t packed_bytes_ = 0;  // at the start of scratch; 0: B is read where it lies
  bool bias_ = false;
};

// The gradient of weights [out, in] from that of a layer's output, transposed, and its input: dW (+)= dz^T [out, rows] x [rows, in].
class WeightGradient {
 public:
  WeightGradient() = default;
  WeightGradient(int64_t rows, int64_t in, int64_t out, DType operands, DType gradient);

  int64_t scratch_bytes() const { return sum_bytes_ + std::max(overwrite_.scratch_bytes(), add_.scratch_bytes()); }
  void operator()(const void* dz_transposed, const void* x, const ParameterView& weight, Accumulate accumulate, void* scratch);

 private:
  int64_t count_ = 0, sum_bytes_ = 0;  // sums go to scratch first where oneDNN cannot store them as the gradient's type
  Gemm overwrite_, add_;
};

// Offsets of the parts of an op's scratch, in whole cache lines.
class ScratchPlan {
 public:
  int64_t add(int64_t bytes) {
    const int64_t at = bytes_;
    bytes_ += (bytes + 63) / 64 * 64;
    return at;
  }
  int64_t bytes() const { return bytes_; }

 private:
  int64_t bytes_ = 0;
};

}  // namespace erg
