// Host <-> engine: images are given as NCHW and lie in channel blocks (layout.hpp), everything else is row-major on both sides.
#include <algorithm>
#include <cstring>

#include "core/error.hpp"
#include "engine/cpu/engine.hpp"
#include "engine/cpu/kernels/add.hpp"
#include "engine/cpu/layout.hpp"

namespace erg {
namespace {

float to_element(float x, float) { return x; }
bf16_bits to_element(float x, bf16_bits) { return to_bf16(x); }
float from_element(float x) { return x; }
float from_element(bf16_bits x) { return to_float(x); }

// A plain tensor is an image of one channel.
Planes shape_of(const Tensor& t) { return t.layout == Layout::image ? planes_of(t) : Planes{t.dtype, 1, 1, t.size(), 1}; }

template <class T>
void write_elements(const Tensor& to, const float* from) {
  const Planes s = shape_of(to);
  const int64_t blocks = s.blocks();
  T* out = to.as<T>();
#pragma omp parallel for collapse(2) schedule(static)
  for (int64_t n = 0; n < s.images; ++n) {
    for (int64_t b = 0; b < blocks; ++b) {
      T* plane = out + (n * blocks + b) * s.pixels * s.block;
      const int64_t channels = std::min(s.block, s.channels - b * s.block);
      for (int64_t c = 0; c < s.block; ++c) {
        const float* channel = from + (n * s.channels + b * s.block + c) * s.pixels;
        for (int64_t p = 0; p < s.pixels; ++p) plane[p * s.block + c] = to_element(c < channels ? channel[p] : 0.0f, T{});
      }
    }
  }
}

template <class T>
void read_elements(const Tensor& from, float* to) {
  const Planes s = shape_of(from);
  const int64_t blocks = s.blocks();
  const T* in = from.as<T>();
#pragma omp parallel for collapse(2) schedule(static)
  for (int64_t n = 0; n < s.images; ++n) {
    for (int64_t c = 0; c < s.channels; ++c) {
      const T* plane = in + (n * blocks + c / s.block) * s.pixels * s.block + c % s.block;
      float* channel = to + (n * s.channels + c) * s.pixels;
      for (int64_t p = 0; p < s.pixels; ++p) channel[p] = from_element(plane[p * s.block]);
    }
  }
}

[[noreturn]] void wrong_type(const Tensor& t, const char* what) {
  throw Error(ErrorKind::usage, std::string(what) + " a tensor of " + std::string(name_of(t.dtype)), "engine cpu");
}

}  // namespace

int64_t CpuEngine::storage_bytes(DType dtype, const Shape& shape, Layout layout) const {
  if (layout == Layout::plain) return elements(shape) * bytes_of(dtype);
  return planes_of({dtype, shape, layout, nullptr, 0}).bytes();
}

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

void CpuEngine::add(const Tensor& to, const Tensor& what) {
  if (to.dtype != what.dtype || to.bytes != what.bytes) {
    throw Error(ErrorKind::failed, "the two tensors of a sum must have the same type and size", "engine cpu");
  }
  if (to.dtype != DType::f32 && to.dtype != DType::bf16) wrong_type(to, "cannot add to");
  add_kernels().add(to.dtype, to.data, what.data, to.bytes / bytes_of(to.dtype));  // with the layout's padding: it stays 0
}

}  // namespace erg
