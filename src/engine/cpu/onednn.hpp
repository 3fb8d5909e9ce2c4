// oneDNN behind one small door: the CPU engine and stream, types, and primitives that run again and again without allocating
// on our side. Only .cpp files of engine/cpu include it.
#pragma once
#include <oneapi/dnnl/dnnl_debug.h>

#include <initializer_list>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <vector>

#include "core/dtype.hpp"
#include "core/error.hpp"
#include "engine/cpu/kernels/planes.hpp"

namespace erg::onednn {

using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;
using Tag = dnnl::memory::format_tag;

inline const dnnl::engine& engine() {
  static const dnnl::engine e(dnnl::engine::kind::cpu, 0);
  return e;
}
inline const dnnl::stream& stream() {
  static const dnnl::stream s(engine());
  return s;
}

// oneDNN's exception as ours: which kind of failure it was is in its status only.
inline Error translated(const dnnl::error& e, const std::string& where = {}, ErrorKind otherwise = ErrorKind::failed) {
  return Error(e.status == dnnl_out_of_memory ? ErrorKind::out_of_memory : otherwise,
               std::string("oneDNN: ") + e.what() + " (" + dnnl_status2str(e.status) + ")", where);
}

inline dnnl::memory::data_type type_of(DType t) {
  switch (t) {
    case DType::f32: return dnnl::memory::data_type::f32;
    case DType::bf16: return dnnl::memory::data_type::bf16;
    case DType::f16: return dnnl::memory::data_type::f16;
    case DType::i32: return dnnl::memory::data_type::s32;
    case DType::u8: return dnnl::memory::data_type::u8;
  }
  throw Error(ErrorKind::usage, "unknown dtype");
}

// An image tensor as layout.hpp lays it out.
inline Desc image(const Planes& p, int64_t height, int64_t width) {
  const Tag tag = p.block == 16 ? Tag::nChw16c : p.block == 8 ? Tag::nChw8c : Tag::nchw;
  return {{p.images, p.channels, height, width}, type_of(p.dtype), tag};
}

// Attributes of every primitive here: scratch memory comes from the engine's, not from oneDNN.
inline dnnl::primitive_attr user_scratch() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

// A primitive with its argument list made once; running it only sets data pointers.
//   Call forward(pd, {{DNNL_ARG_SRC, pd.src_desc()}, {DNNL_ARG_WEIGHTS, ...}, {DNNL_ARG_DST, ...}});
//   engine.reserve_scratch(forward.scratch_bytes());
//   forward({x, w, y}, engine.scratch());
class Call {
 public:
  struct Argument {
    int index;
    Desc desc;
  };

  Call() = default;
  template <class PrimitiveDesc>
  Call(const PrimitiveDesc& pd, std::initializer_list<Argument> arguments) try
      : primitive_(pd.get()), scratch_bytes_(int64_t(pd.scratchpad_desc().get_size())) {
    for (const Argument& a : arguments) add(a.index, a.desc);
    add(DNNL_ARG_SCRATCHPAD, pd.scratchpad_desc());
  } catch (const dnnl::error& e) { throw translated(e); }

  // Data pointers in the order the arguments were given in.
  void operator()(std::initializer_list<const void*> data, void* scratch) {
    if (data.size() + 1 != arguments_.size()) throw Error(ErrorKind::failed, "wrong number of data pointers", "oneDNN call");
    size_t i = 0;
    for (const void* p : data) check(dnnl_memory_set_data_handle(arguments_[i++].memory, const_cast<void*>(p)));
    check(dnnl_memory_set_data_handle(arguments_[i].memory, scratch));
    check(dnnl_primitive_execute(primitive_.get(), stream().get(), int(arguments_.size()), arguments_.data()));
  }

  int64_t scratch_bytes() const { return scratch_bytes_; }
  explicit operator bool() const { return bool(primitive_); }

 private:
  static void check(dnnl_status_t status) {
    if (status == dnnl_success) return;
    throw Error(status == dnnl_out_of_memory ? ErrorKind::out_of_memory : ErrorKind::failed,
                std::string("status ") + dnnl_status2str(status), "oneDNN call");
  }
  void add(int index, const Desc& desc) {
    memories_.emplace_back(desc, engine(), nullptr);
    arguments_.push_back({index, memories_.back().get()});
  }

  dnnl::primitive primitive_;
  int64_t scratch_bytes_ = 0;
  std::vector<dnnl::memory> memories_;
  std::vector<dnnl_exec_arg_t> arguments_;
};

// From one layout and type to another: call({from, to}, scratch).
inline Call reorder(const Desc& from, const Desc& to) try {
  const dnnl::reorder::primitive_desc pd(engine(), from, engine(), to, user_scratch());
  return {pd, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}};
} catch (const dnnl::error& e) { throw translated(e); }
// The same, once, outside of steps.
inline void convert(const Desc& from, const void* from_data, const Desc& to, void* to_data) {
  Call call = reorder(from, to);
  std::vector<char> scratch(size_t(call.scratch_bytes()));
  call({from_data, to_data}, scratch.data());
}

}  // namespace erg::onednn
