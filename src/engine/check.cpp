#include "engine/check.hpp"

#include <fmt/format.h>

#include "core/error.hpp"

namespace erg {
namespace {

struct Check {
  std::string where;

  void require(bool good, const std::string& message) const {
    if (!good) throw Error(ErrorKind::usage, message, where);
  }
  void positive(std::initializer_list<std::pair<const char*, int64_t>> sizes) const {
    for (const auto& [name, value] : sizes) require(value > 0, fmt::format("{} is {}, it must be at least 1", name, value));
  }
  void floating(DType t) const {
    require(t == DType::f32 || t == DType::bf16, fmt::format("activations are fp32 or bf16, not {}", name_of(t)));
  }
  void window(int64_t kernel, int64_t stride, int64_t padding, int64_t height, int64_t width) const {
    positive({{"kernel", kernel}, {"stride", stride}, {"height", height}, {"width", width}});
    require(padding >= 0 && padding < kernel, fmt::format("padding is {}, it must be from 0 to kernel - 1", padding));
    require(height + 2 * padding >= kernel && width + 2 * padding >= kernel,
            fmt::format("a kernel of {} does not fit {}x{} pixels padded by {}", kernel, height, width, padding));
  }

  void operator()(const ConvBnDesc& d) const {
    positive({{"batch", d.batch}, {"in_channels", d.in_channels}, {"out_channels", d.out_channels}});
    window(d.kernel, d.stride, d.padding, d.in_height, d.in_width);
    floating(d.dtype);
  }
  void operator()(const BottleneckDesc& d) const {
    positive({{"batch", d.batch},
              {"in_channels", d.in_channels},
              {"in_height", d.in_height},
              {"in_width", d.in_width},
              {"width", d.width},
              {"stride", d.stride}});
    require(d.projection || (d.stride == 1 && d.in_channels == 4 * d.width),
            fmt::format("an identity shortcut needs stride 1 and {} input channels, not stride {} and {}; set projection", 4 * d.width,
                        d.stride, d.in_channels));
    floating(d.dtype);
  }
  void operator()(const MaxPoolDesc& d) const {
    positive({{"batch", d.batch}, {"channels", d.channels}});
    window(d.kernel, d.stride, d.padding, d.in_height, d.in_width);
    floating(d.dtype);
  }
  void operator()(const GlobalAvgPoolDesc& d) const {
    positive({{"batch", d.batch}, {"channels", d.channels}, {"height", d.height}, {"width", d.width}});
    floating(d.dtype);
  }
  void operator()(const LinearDesc& d) const {
    positive({{"rows", d.rows}, {"in", d.in}, {"out", d.out}});
    floating(d.dtype);
  }
  void operator()(const ResidualNormDesc& d) const {
    positive({{"rows", d.rows}, {"hidden", d.hidden}});
    floating(d.dtype);
  }
  void operator()(const AttentionDesc& d) const {
    positive({{"batch", d.batch}, {"sequence", d.sequence}, {"heads", d.heads}, {"head_size", d.head_size}});
    require(!d.rope || d.head_size % 2 == 0, fmt::format("RoPE rotates pairs, a head of {} has an odd one", d.head_size));
    floating(d.dtype);
  }
  void operator()(const EmbeddingDesc& d) const {
    positive({{"batch", d.batch}, {"sequence", d.sequence}, {"vocabulary", d.vocabulary}, {"hidden", d.hidden}});
    require(d.positions == 0 || d.positions >= d.sequence,
            fmt::format("{} positions do not cover a sequence of {}", d.positions, d.sequence));
    floating(d.dtype);
  }
  void operator()(const ClassifierDesc& d) const {
    positive({{"rows", d.rows}, {"in", d.in}, {"classes", d.classes}});
    require(d.valid_classes >= 0 && d.valid_classes <= d.classes,
            fmt::format("{} of {} classes cannot be valid", d.valid_classes, d.classes));
    require(d.label_smoothing >= 0 && d.label_smoothing < 1, fmt::format("label smoothing is {}, it must be in [0, 1)", d.label_smoothing));
    floating(d.dtype);
  }
};

}  // namespace

void check_descriptor(const OpDesc& desc) { std::visit(Check{op_class(desc)}, desc); }

}  // namespace erg
