// A tensor: dtype, logical shape, the engine's own layout, and where it lies. It does not own memory; Buffer does.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

#include "core/dtype.hpp"

namespace erg {

using Shape = std::vector<int64_t>;
inline int64_t elements(const Shape& s) { int64_t n = 1; for (int64_t d : s) n *= d; return n; }

enum class Layout {
  plain,  // row-major, no padding
  image   // logical [n, c, h, w] in the engine's own order (NHWC, blocked channels, ...)
};

struct Tensor {
  DType dtype = DType::f32;
  Shape shape;
  Layout layout = Layout::plain;
  void* data = nullptr;          // device memory
  int64_t bytes = 0;             // as it lies, padding included

  template <class T> T* as() const { return static_cast<T*>(data); }
  int64_t size() const { return elements(shape); }
  explicit operator bool() const { return data != nullptr; }
};

}  // namespace erg
