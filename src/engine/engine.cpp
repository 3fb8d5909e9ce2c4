// What every engine shares: views into buffers, scratch, and sums of two tensors.
#include "engine/engine.hpp"

#include <fmt/format.h>

#include "core/error.hpp"

namespace erg {

Tensor Engine::view(Buffer& buffer, DType dtype, Shape shape, Layout layout, int64_t offset_bytes) const {
  const int64_t bytes = storage_bytes(dtype, shape, layout);
  if (offset_bytes < 0 || offset_bytes + bytes > buffer.bytes())
    throw Error(ErrorKind::failed,
                fmt::format("a tensor of {} bytes at offset {} does not fit a buffer of {} bytes", bytes, offset_bytes, buffer.bytes()),
                "Engine::view");
  return {dtype, shape, layout, static_cast<char*>(buffer.data()) + offset_bytes, bytes};
}

void Engine::release_scratch() {
  for (std::unique_ptr<Buffer>& scratch : scratch_) scratch.reset();
}

void Engine::reserve_scratch(int64_t bytes, Scratch which) {
  if (bytes <= scratch_bytes(which)) return;
  std::unique_ptr<Buffer>& scratch = scratch_[size_t(which)];
  scratch.reset();  // before allocating: the old and the new need not fit together
  scratch = allocate(bytes, which == Scratch::op ? "scratch of ops" : "scratch of blocks");
}

void Engine::add(const Tensor& to, const Tensor& what) {
  if (to.dtype != what.dtype || !(to.shape == what.shape) || to.layout != what.layout || to.bytes != what.bytes)
    throw Error(ErrorKind::failed, "the two tensors of a sum must have the same type, shape and layout", "Engine::add");
  const int64_t n = to.bytes / bytes_of(to.dtype);  // with the layout's padding: it stays 0
  if (to.dtype == DType::f32) {
    float* a = to.as<float>();
    const float* b = what.as<float>();
    for (int64_t i = 0; i < n; ++i) a[i] += b[i];
  } else if (to.dtype == DType::bf16) {
    bf16_bits* a = to.as<bf16_bits>();
    const bf16_bits* b = what.as<bf16_bits>();
    for (int64_t i = 0; i < n; ++i) a[i] = to_bf16(to_float(a[i]) + to_float(b[i]));
  } else {
    throw Error(ErrorKind::usage, fmt::format("no sums in {}", name_of(to.dtype)), "Engine::add", "use fp32 or bf16");
  }
}

double Engine::stream(StreamKind kind, const StreamArrays& arrays) {
  float* const a = arrays.a.as<float>();
  const float *const b = arrays.b.as<float>(), *const c = arrays.c.as<float>();
  const auto write = [&](auto value) {
    for (int64_t i = 0, n = arrays.a.bytes / 4; i < n; ++i) a[i] = value(i);
    return 0.0;
  };
  switch (kind) {
    case StreamKind::fill: return write([&](int64_t) { return arrays.scalar; });
    case StreamKind::copy: return write([&](int64_t i) { return b[i]; });
    case StreamKind::triad: return write([&](int64_t i) { return b[i] + arrays.scalar * c[i]; });
    case StreamKind::read: break;
  }
  double sum = 0;
  for (int64_t i = 0, n = arrays.b.bytes / 4; i < n; ++i) sum += double(b[i]);
  return sum;
}

}  // namespace erg
