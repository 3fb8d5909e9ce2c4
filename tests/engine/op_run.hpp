// One op of one engine with everything it needs around it: tensors, parameters and values that are a formula of (seed, tensor, index),
// so that two engines, or a benchmark, get the same work from the same case.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "op_cases.hpp"

namespace erg::test {

struct Values {
  std::string name;
  DType stored = DType::f32;  // what rounded them
  std::vector<float> values;  // logical row-major
};

// Each tensor's own random stream, from its name.
uint64_t stream_of(const std::string& name);

class OpRun {
 public:
  OpRun(Engine& engine, const OpCase& c);
  ~OpRun();

  void fill(uint64_t seed);  // inputs, parameters and output gradients anew
  void forward(Mode mode = Mode::train);
  void backward(Accumulate accumulate = Accumulate::no);
  void ready_backward();  // a forward, and output gradients as filled: what backward may have used up
  void poison_unread();   // NaN into what backward must not read, by the descriptors' comments

  std::vector<Values> outputs() const;
  std::vector<Values> input_gradients() const;  // the wanted ones
  std::vector<Values> parameter_gradients() const;
  std::vector<Values> state() const;
  std::vector<Values> output_gradients() const;  // as filled, none for a classifier, whose loss is its own

  // Values that can be changed one by one: floating-point inputs, then parameters.
  std::vector<Values> variables() const;
  void set_variable(size_t index, const std::vector<float>& values);
  std::vector<Values> variable_gradients() const;  // beside variables(); empty values where no gradient is wanted
  void set_output_gradient(size_t index, const std::vector<float>& values);

 private:
  struct Slot;
  struct Parameter;

  void add_slots();
  void add_parameters();
  Slot make_slot(const std::string& name, DType dtype, const Shape& shape, Layout layout);
  void write(Slot& slot, std::vector<float> values);
  Values read(const Slot& slot) const;
  void set_parameter(size_t index, const std::vector<float>& values);
  std::vector<Tensor> tensors(const std::vector<Slot>& slots) const;

  Engine& engine_;
  OpCase case_;
  std::unique_ptr<Op> op_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<Slot> in_, out_, d_out_, d_in_;
  std::vector<Tensor> in_tensors_, out_tensors_, d_out_tensors_, d_in_tensors_;
  std::vector<Parameter> parameters_;
};

// How a differs from the truth b. worst: the largest |a - b| / (rms_part rms(b) + ulp_part |b|), found at `at`; <= 1 is within bounds.
struct Difference {
  double worst = 0, relative_rms = 0;  // relative_rms: rms(a - b) / rms(b)
  double rms = 0;                      // of b
  size_t at = 0;
};
Difference compare(const std::vector<float>& a, const std::vector<float>& b, double rms_part, double ulp_part);

}  // namespace erg::test
