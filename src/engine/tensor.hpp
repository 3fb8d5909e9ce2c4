// A tensor: dtype, logical shape, the engine's own layout, and where it lies. It does not own memory; Buffer does.
#pragma once
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "core/dtype.hpp"
#include "core/error.hpp"

namespace erg {

// A list of dimensions that lives where the tensor does: copying a tensor, or passing one to an op, allocates nothing.
class Shape {
 public:
  static constexpr size_t max_dimensions = 6;

  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : Shape(dims.begin(), dims.end()) {}
  Shape(const std::vector<int64_t>& dims) : Shape(dims.begin(), dims.end()) {}
  template <class It>
  Shape(It first, It last) {
    for (; first != last; ++first) push_back(*first);
  }
  operator std::vector<int64_t>() const { return {begin(), end()}; }

  void push_back(int64_t d) {
    if (size_ == max_dimensions) throw Error(ErrorKind::failed, "a tensor has at most 6 dimensions", "Shape");
    dims_[size_++] = d;
  }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t operator[](size_t i) const { return dims_[i]; }
  int64_t& operator[](size_t i) { return dims_[i]; }
  int64_t back() const { return dims_[size_ - 1]; }
  const int64_t* begin() const { return dims_; }
  const int64_t* end() const { return dims_ + size_; }
  bool operator==(const Shape& o) const { return std::equal(begin(), end(), o.begin(), o.end()); }

 private:
  int64_t dims_[max_dimensions] = {};
  size_t size_ = 0;
};
inline int64_t elements(const Shape& s) {
  int64_t n = 1;
  for (int64_t d : s) n *= d;
  return n;
}

enum class Layout {
  plain,  // row-major, no padding
  image   // logical [n, c, h, w] in the engine's own order (NHWC, blocked channels, ...)
};

struct Tensor {
  DType dtype = DType::f32;
  Shape shape;
  Layout layout = Layout::plain;
  void* data = nullptr;  // device memory
  int64_t bytes = 0;     // as it lies, padding included

  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
  int64_t size() const { return elements(shape); }
  explicit operator bool() const { return data != nullptr; }
};

}  // namespace erg
