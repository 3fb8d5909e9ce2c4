// The op cases every engine is held to against `ref`, and the ones a benchmark of ops can time: descriptors as data.
// Sizes are odd on purpose: channels that fill no vector, images that fill no tile, sequences that fill no block.
#pragma once
#include <string>
#include <vector>

#include "model/ops.hpp"

namespace erg::test {

struct OpCase {
  OpDesc desc;
  DType gradients = DType::f32;  // of parameters
  bool accumulate = false;       // the second backward adds to the first one's parameter gradients
  // Residual norm only.
  bool stream = true;     // backward is given d_r
  bool in_place = false;  // d_x lies where d_r does
};

inline std::string name_of(const OpCase& c) {
  std::string name = describe(c.desc);
  if (c.gradients == DType::bf16) name += " bf16-gradients";
  if (c.accumulate) name += " accumulate";
  if (!c.stream) name += " no-stream";
  if (c.in_place) name += " in-place";
  return name;
}

inline std::vector<OpDesc> op_descriptors() {
  constexpr auto gelu = Activation::gelu_tanh;
  constexpr auto none = Activation::none;
  return {
      // batch, in channels, height, width, out channels, kernel, stride, padding, residual, relu, input gradient
      ConvBnDesc{2, 3, 15, 13, 17, 7, 2, 3, false, true, false},
      ConvBnDesc{1, 3, 32, 32, 64, 7, 2, 3, false, true, false},
      ConvBnDesc{2, 17, 9, 7, 64, 7, 1, 3, false, false, true},
      ConvBnDesc{2, 3, 9, 10, 64, 3, 1, 1, false, true, true},
      ConvBnDesc{3, 17, 5, 6, 17, 3, 1, 1, true, false, true},
      ConvBnDesc{2, 64, 7, 7, 64, 3, 1, 1, false, true, true},
      ConvBnDesc{2, 64, 9, 8, 64, 3, 2, 1, false, true, true},
      ConvBnDesc{2, 17, 8, 9, 3, 3, 2, 1, true, true, true},
      ConvBnDesc{1, 64, 6, 6, 32, 3, 1, 0, false, true, true},
      ConvBnDesc{2, 17, 8, 7, 64, 1, 1, 0, true, true, true},
      ConvBnDesc{2, 64, 8, 8, 17, 1, 1, 0, false, false, true},
      ConvBnDesc{1, 64, 9, 9, 128, 1, 2, 0, false, false, true},
      ConvBnDesc{2, 64, 7, 7, 256, 1, 1, 0, true, true, true},
      ConvBnDesc{5, 128, 4, 4, 64, 1, 1, 0, false, true, true},
      // batch, in channels, height, width, width, stride, projection
      BottleneckDesc{2, 64, 7, 7, 16, 1, false},
      BottleneckDesc{2, 64, 9, 8, 32, 2, true},
      BottleneckDesc{1, 17, 8, 8, 16, 1, true},
      BottleneckDesc{2, 64, 14, 14, 64, 1, true},
      // batch, channels, height, width, kernel, stride, padding
      MaxPoolDesc{2, 64, 8, 8, 3, 2, 1},
      MaxPoolDesc{3, 17, 9, 7, 3, 2, 1},
      MaxPoolDesc{1, 3, 7, 6, 2, 2, 0},
      MaxPoolDesc{2, 3, 5, 5, 3, 1, 1},
      // batch, channels, height, width
      GlobalAvgPoolDesc{2, 64, 7, 7},
      GlobalAvgPoolDesc{3, 17, 1, 1},
      GlobalAvgPoolDesc{1, 3, 5, 4},
      // rows, in, out, bias, activation
      LinearDesc{1, 64, 17, true, none},
      LinearDesc{5, 17, 64, true, gelu},
      LinearDesc{129, 96, 80, true, gelu},
      LinearDesc{129, 80, 96, true, none},
      LinearDesc{64, 128, 256, true, gelu},
      LinearDesc{7, 33, 3, false, none},
      LinearDesc{1, 64, 64, false, gelu},
      LinearDesc{401, 72, 400, true, gelu},
      // rows, hidden, residual
      ResidualNormDesc{1, 64, true},
      ResidualNormDesc{5, 17, true},
      ResidualNormDesc{129, 80, true},
      ResidualNormDesc{129, 768, true},
      ResidualNormDesc{5, 64, false},
      ResidualNormDesc{129, 33, false},
      // batch, sequence, heads, head size, rope
      AttentionDesc{2, 1, 2, 64, false},
      AttentionDesc{2, 7, 3, 24, true},
      AttentionDesc{1, 33, 2, 64, true},
      AttentionDesc{2, 64, 2, 80, false},
      AttentionDesc{1, 130, 3, 64, false},
      AttentionDesc{1, 130, 1, 80, true},
      AttentionDesc{3, 64, 1, 24, false},
      // batch, sequence, vocabulary, hidden, positions, tied table
      EmbeddingDesc{2, 7, 101, 64, 9},
      EmbeddingDesc{1, 1, 17, 17, 1},
      EmbeddingDesc{3, 33, 129, 80, 0},
      EmbeddingDesc{2, 64, 97, 64, 64, true},
      // rows, in, classes, valid classes, bias, tied, label smoothing, loss scale
      ClassifierDesc{5, 64, 97, 0, true, false, 0, 1},
      ClassifierDesc{129, 80, 128, 101, false, true, 0, 1.0 / 129},
      ClassifierDesc{1, 17, 10, 0, true, false, 0.1f, 1},
      ClassifierDesc{5, 17, 33, 31, true, false, 0.1f, 0.2},
      ClassifierDesc{33, 64, 1001, 1000, true, false, 0.1f, 1.0 / 33},
      ClassifierDesc{520, 32, 257, 0, false, false, 0, 1.0 / 520},
      ClassifierDesc{1031, 24, 65, 0, true, false, 0, 1.0 / 1031},
  };
}

// Every descriptor in fp32 and bf16, with the ways of keeping gradients spread over them.
inline std::vector<OpCase> op_cases() {
  std::vector<OpCase> cases;
  for (const DType dtype : {DType::f32, DType::bf16}) {
    size_t i = 0;
    for (OpDesc desc : op_descriptors()) {
      std::visit([&](auto& d) { d.dtype = dtype; }, desc);
      OpCase c{desc};
      c.accumulate = i % 2 == 1;
      c.gradients = (dtype == DType::bf16) == (i % 3 != 0) ? DType::bf16 : DType::f32;  // mostly the activations' type
      c.stream = i % 5 != 0;
      c.in_place = std::holds_alternative<ResidualNormDesc>(desc) && c.stream && i % 2 == 0;
      if (!std::holds_alternative<ResidualNormDesc>(desc)) c.stream = true;
      cases.push_back(c);
      ++i;
    }
  }
  return cases;
}

}  // namespace erg::test
