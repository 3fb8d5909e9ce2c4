// Host <-> engine: images are given as NCHW and lie as NHWC, everything else is row-major on both sides.
// The layout was chosen by measuring (see conv_bn.cpp); these two loops and storage_bytes are all that know it.
#include <algorithm>
#include <cstring>

#include "core/error.hpp"
#include "engine/cpu/engine.hpp"

namespace erg {
namespace {

float to_element(float x, float) { return x; }
bf16_bits to_element(float x, bf16_bits) { return to_bf16(x); }
float from_element(float x) { return x; }
float from_element(bf16_bits x) { return to_float(x); }

struct Image { int64_t n, c, pixels; };

Image image_of(const Tensor& t) {
  if (t.layout == Layout::plain) return {1, 1, t.size()};
  if (t.shape.size() != 4) throw Error(ErrorKind::usage, "an image tensor has four dimensions: n, c, h, w", "engine cpu");
  return {t.shape[0], t.shape[1], t.shape[2] * t.shape[3]};
}

template <class T>
void write_elements(const Tensor& to, const float* from) {
  const Image s = image_of(to);
  T* out = to.as<T>();
#pragma omp parallel for collapse(2) schedule(static)
  for (int64_t n = 0; n < s.n; ++n) {
    for (int64_t p = 0; p < s.pixels; ++p) {
      for (int64_t c = 0; c < s.c; ++c) out[(n * s.pixels + p) * s.c + c] = to_element(from[(n * s.c + c) * s.pixels + p], T{});
    }
  }
}

template <class T>
void read_elements(const Tensor& from, float* to) {
  const Image s = image_of(from);
  const T* in = from.as<T>();
#pragma omp parallel for collapse(2) schedule(static)
  for (int64_t n = 0; n < s.n; ++n) {
    for (int64_t p = 0; p < s.pixels; ++p) {
      for (int64_t c = 0; c < s.c; ++c) to[(n * s.c + c) * s.pixels + p] = from_element(in[(n * s.pixels + p) * s.c + c]);
    }
  }
}

[[noreturn]] void wrong_type(const Tensor& t, const char* what) {
  throw Error(ErrorKind::usage, std::string(what) + " a tensor of " + std::string(name_of(t.dtype)), "engine cpu");
}

}  // namespace

int64_t CpuEngine::storage_bytes(DType dtype, const Shape& shape, Layout) const { return elements(shape) * bytes_of(dtype); }

void CpuEngine::write(const Tensor& to, const float* from) {
  switch (to.dtype) {
    case DType::f32: return write_elements<float>(to, from);
    case DType::bf16: return write_elements<bf16_bits>(to, from);
    default: wrong_type(to, "cannot write floats to");
  }
}

void CpuEngine::write(const Tensor& to, const int32_t* from) {
  if (to.dtype != DType::i32) wrong_type(to, "cannot write integers to");
  std::memcpy(to.data, from, size_t(to.size()) * sizeof(int32_t));
}

void CpuEngine::read(const Tensor& from, float* to) {
  switch (from.dtype) {
    case DType::f32: return read_elements<float>(from, to);
    case DType::bf16: return read_elements<bf16_bits>(from, to);
    case DType::i32: std::copy_n(from.as<int32_t>(), from.size(), to); return;
    default: wrong_type(from, "cannot read");
  }
}

}  // namespace erg
