#include "op_run.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/rng.hpp"

namespace erg::test {
namespace {

// The classifier as an op: in: x, targets; out: metrics. Training is its backward.
class ClassifierAsOp final : public Op {
 public:
  ClassifierAsOp(Engine& engine, const ClassifierDesc& d) : engine_(engine), op_(engine.classifier(d)) {}
  std::vector<ParameterSpec> parameters() const override { return op_->parameters(); }
  void bind(std::span<const ParameterView> views) override { op_->bind(views); }
  void weights_changed() override { op_->weights_changed(); }
  void import_parameter(size_t i, const float* logical) override { op_->import_parameter(i, logical); }
  void export_parameter(size_t i, float* logical) const override { op_->export_parameter(i, logical); }
  void export_gradient(size_t i, float* logical) const override { op_->export_gradient(i, logical); }

  void forward(Inputs in, Inputs out, Mode mode) override {
    engine_.fill_zero(out[0]);
    if (mode == Mode::evaluate) op_->evaluate(in[0], in[1], out[0]);
  }
  void backward(Inputs in, Inputs out, Inputs, Inputs d_in, Accumulate accumulate) override {
    engine_.fill_zero(out[0]);
    op_->train(in[0], in[1], d_in[0], out[0], accumulate);
  }

 private:
  Engine& engine_;
  std::unique_ptr<ClassifierOp> op_;
};

struct MakeOp {
  Engine& e;
  std::unique_ptr<Op> operator()(const ConvBnDesc& d) const { return e.conv_bn(d); }
  std::unique_ptr<Op> operator()(const BottleneckDesc& d) const { return e.bottleneck(d); }
  std::unique_ptr<Op> operator()(const MaxPoolDesc& d) const { return e.max_pool(d); }
  std::unique_ptr<Op> operator()(const GlobalAvgPoolDesc& d) const { return e.global_avg_pool(d); }
  std::unique_ptr<Op> operator()(const LinearDesc& d) const { return e.linear(d); }
  std::unique_ptr<Op> operator()(const ResidualNormDesc& d) const { return e.residual_norm(d); }
  std::unique_ptr<Op> operator()(const AttentionDesc& d) const { return e.attention(d); }
  std::unique_ptr<Op> operator()(const EmbeddingDesc& d) const { return e.embedding(d); }
  std::unique_ptr<Op> operator()(const ClassifierDesc& d) const { return std::make_unique<ClassifierAsOp>(e, d); }
};

// A tensor of an op as its descriptor lists it.
struct Spec {
  std::string name;
  DType dtype;
  Shape shape;
  Layout layout = Layout::plain;
  int64_t below = 0;           // of integers: values are in [0, below)
  bool differentiable = true;  // has a gradient
  bool read_backward = true;
};
struct Specs {
  std::vector<Spec> in, out;
};

struct SpecsOf {
  Specs operator()(const ConvBnDesc& d) const {
    const Shape y{d.batch, d.out_channels, d.out_height(), d.out_width()};
    Specs s{{image("x", d.dtype, {d.batch, d.in_channels, d.in_height, d.in_width})}, {image("y", d.dtype, y)}};
    s.in[0].differentiable = d.input_gradient;
    if (d.residual) s.in.push_back(image("residual", d.dtype, y));
    return s;
  }
  Specs operator()(const BottleneckDesc& d) const {
    const ConvBnDesc last = d.expand();
    return {{image("x", d.dtype, {d.batch, d.in_channels, d.in_height, d.in_width})},
            {image("y", d.dtype, {d.batch, last.out_channels, last.out_height(), last.out_width()})}};
  }
  Specs operator()(const MaxPoolDesc& d) const {
    return {{image("x", d.dtype, {d.batch, d.channels, d.in_height, d.in_width})},
            {image("y", d.dtype, {d.batch, d.channels, d.out_height(), d.out_width()})}};
  }
  Specs operator()(const GlobalAvgPoolDesc& d) const {
    return {{image("x", d.dtype, {d.batch, d.channels, d.height, d.width})}, {{"y", d.dtype, {d.batch, d.channels}}}};
  }
  Specs operator()(const LinearDesc& d) const {
    Specs s{{{"x", d.dtype, {d.rows, d.in}}}, {{"y", d.dtype, {d.rows, d.out}}}};
    s.out[0].read_backward = d.activation != Activation::none;
    return s;
  }
  Specs operator()(const ResidualNormDesc& d) const {
    const Shape shape{d.rows, d.hidden};
    Specs s{{{"x", d.dtype, shape}}, {{"y", d.dtype, shape}}};
    if (!d.residual) return s;
    s.in.push_back({"delta", d.dtype, shape});
    s.in[0].read_backward = s.in[1].read_backward = false;
    s.out.insert(s.out.begin(), {"r", d.dtype, shape});
    return s;
  }
  Specs operator()(const AttentionDesc& d) const {
    return {{{"qkv", d.dtype, {d.batch, d.sequence, 3, d.heads, d.head_size}}},
            {{"y", d.dtype, {d.batch, d.sequence, d.heads, d.head_size}}}};
  }
  Specs operator()(const EmbeddingDesc& d) const {
    return {{{"tokens", DType::i32, {d.batch, d.sequence}, Layout::plain, d.vocabulary, false}},
            {{"y", d.dtype, {d.batch * d.sequence, d.hidden}}}};
  }
  Specs operator()(const ClassifierDesc& d) const {
    const int64_t valid = d.valid_classes ? d.valid_classes : d.classes;
    Specs s{{{"x", d.dtype, {d.rows, d.in}}, {"targets", DType::i32, {d.rows}, Layout::plain, valid, false}},
            {{"metrics", DType::f32, {2}}}};
    s.out[0].differentiable = false;
    return s;
  }
  static Spec image(const std::string& name, DType dtype, const Shape& shape) { return {name, dtype, shape, Layout::image}; }
};

// Weights keep the size of activations near one; scales are near one, shifts small.
float parameter_value(const ParameterSpec& p, uint64_t seed, uint64_t stream, uint64_t index) {
  if (p.name.ends_with("gamma")) return 1 + random_centered(seed, stream, index, 0.25);
  if (p.name.ends_with("beta") || p.name.ends_with("bias")) return random_centered(seed, stream, index, 0.5);
  if (p.name.ends_with("weight"))
    return random_centered(seed, stream, index, 1 / std::sqrt(double(elements(p.shape)) / double(p.shape[0])));
  return random_centered(seed, stream, index, 1);  // embedding tables
}

}  // namespace

uint64_t stream_of(const std::string& name) {  // FNV-1a
  uint64_t h = 0xcbf29ce484222325ull;
  for (const char c : name) h = (h ^ uint8_t(c)) * 0x100000001b3ull;
  return h;
}

struct OpRun::Slot {
  std::string name;
  Tensor tensor;
  int64_t below = 0;
  bool read_backward = true;
  std::vector<float> written;  // logical values, as given
};

struct OpRun::Parameter {
  ParameterSpec spec;
  ParameterView view;
  std::vector<float> written;
};

OpRun::OpRun(Engine& engine, const OpCase& c) : engine_(engine), case_(c), op_(std::visit(MakeOp{engine}, c.desc)) {
  add_slots();
  add_parameters();
  fill(1);
}

OpRun::~OpRun() = default;

OpRun::Slot OpRun::make_slot(const std::string& name, DType dtype, const Shape& shape, Layout layout) {
  buffers_.push_back(engine_.allocate(engine_.storage_bytes(dtype, shape, layout), "test " + name));
  return {name, engine_.view(*buffers_.back(), dtype, shape, layout), 0, true, {}};
}

void OpRun::add_slots() {
  const Specs specs = std::visit(SpecsOf{}, case_.desc);
  const bool norm = std::holds_alternative<ResidualNormDesc>(case_.desc), classifier = std::holds_alternative<ClassifierDesc>(case_.desc);
  for (const Spec& s : specs.out) {
    out_.push_back(make_slot(s.name, s.dtype, s.shape, s.layout));
    out_.back().read_backward = s.read_backward;
    if (!classifier) d_out_.push_back(make_slot("d_" + s.name, s.dtype, s.shape, s.layout));
  }
  if (norm && case_.stream && d_out_.size() == 1)
    d_out_.insert(d_out_.begin(), make_slot("d_r", specs.in[0].dtype, specs.in[0].shape, Layout::plain));
  if (norm && !case_.stream && d_out_.size() == 2) d_out_.erase(d_out_.begin());
  for (const Spec& s : specs.in) {
    in_.push_back(make_slot(s.name, s.dtype, s.shape, s.layout));
    in_.back().below = s.below;
    in_.back().read_backward = s.read_backward;
    if (norm && !d_in_.empty()) continue;  // one gradient for both inputs
    if (s.differentiable)
      d_in_.push_back(make_slot("d_" + s.name, s.dtype, s.shape, s.layout));
    else
      d_in_.push_back({"", Tensor{}, 0, true, {}});
  }
  if (case_.in_place) d_in_[0].tensor.data = d_out_[0].tensor.data;
  in_tensors_ = tensors(in_), out_tensors_ = tensors(out_), d_out_tensors_ = tensors(d_out_), d_in_tensors_ = tensors(d_in_);
}

void OpRun::add_parameters() {
  const auto take = [&](int64_t bytes) {
    buffers_.push_back(engine_.allocate(bytes, "test parameters"));
    return buffers_.back()->data();
  };
  const DType dtype = std::visit([](const auto& d) { return d.dtype; }, case_.desc);
  std::vector<ParameterView> views;
  for (const ParameterSpec& spec : op_->parameters()) {
    ParameterView v;
    v.master = static_cast<float*>(take(spec.storage * 4));
    if (spec.compute_copy) v.compute = dtype == DType::f32 ? v.master : take(spec.storage * bytes_of(dtype));
    v.gradient = take(spec.storage * bytes_of(case_.gradients));
    v.gradient_dtype = case_.gradients;
    v.compute_dtype = dtype;
    views.push_back(v);
    parameters_.push_back({spec, v, {}});
  }
  op_->bind(views);
}

void OpRun::fill(uint64_t seed) {
  const auto centered = [&](const std::string& name, int64_t count) {
    std::vector<float> values(static_cast<size_t>(count));
    for (size_t i = 0; i < values.size(); ++i) values[i] = random_centered(seed, stream_of(name), i, 1);
    return values;
  };
  for (Slot& s : in_) {
    if (s.tensor.dtype != DType::i32) {
      write(s, centered(s.name, s.tensor.size()));
      continue;
    }
    std::vector<int32_t> integers(size_t(s.tensor.size()));
    for (size_t i = 0; i < integers.size(); ++i) integers[i] = int32_t(random_bits(seed, stream_of(s.name), i) % uint64_t(s.below));
    if (s.name == "targets")
      for (size_t i = 3; i < integers.size(); i += 7) integers[i] = -1;  // ignored rows
    engine_.write(s.tensor, integers.data());
  }
  for (Slot& s : d_out_) write(s, centered(s.name, s.tensor.size()));
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const ParameterSpec& spec = parameters_[i].spec;
    std::vector<float> values(size_t(elements(spec.shape)));
    for (size_t k = 0; k < values.size(); ++k) values[k] = parameter_value(spec, seed, stream_of(spec.name), k);
    set_parameter(i, values);
  }
}

void OpRun::forward(Mode mode) { op_->forward(Inputs(in_tensors_), Inputs(out_tensors_), mode); }

void OpRun::backward(Accumulate accumulate) {
  op_->backward(Inputs(in_tensors_), Inputs(out_tensors_), Inputs(d_out_tensors_), Inputs(d_in_tensors_), accumulate);
}

void OpRun::ready_backward() {
  for (const Slot& s : d_out_) engine_.write(s.tensor, s.written.data());
  forward();
}

void OpRun::poison_unread() {
  for (const std::vector<Slot>* slots : {&in_, &out_})
    for (const Slot& s : *slots)
      if (!s.read_backward)
        engine_.write(s.tensor, std::vector<float>(size_t(s.tensor.size()), std::numeric_limits<float>::quiet_NaN()).data());
}

void OpRun::write(Slot& slot, std::vector<float> values) {
  engine_.write(slot.tensor, values.data());
  slot.written = std::move(values);
}

Values OpRun::read(const Slot& slot) const {
  Values v{slot.name, slot.tensor.dtype, std::vector<float>(size_t(slot.tensor.size()))};
  engine_.read(slot.tensor, v.values.data());
  return v;
}

void OpRun::set_parameter(size_t index, const std::vector<float>& values) {
  parameters_[index].written = values;
  op_->import_parameter(index, values.data());
  op_->weights_changed();
}

std::vector<Tensor> OpRun::tensors(const std::vector<Slot>& slots) const {
  std::vector<Tensor> all;
  for (const Slot& s : slots) all.push_back(s.tensor);
  return all;
}

std::vector<Values> OpRun::outputs() const {
  engine_.synchronize();
  std::vector<Values> all;
  for (const Slot& s : out_) all.push_back(read(s));
  return all;
}

std::vector<Values> OpRun::input_gradients() const {
  engine_.synchronize();
  std::vector<Values> all;
  for (const Slot& s : d_in_)
    if (s.tensor) all.push_back(read(s));
  return all;
}

std::vector<Values> OpRun::parameter_gradients() const {
  engine_.synchronize();
  std::vector<Values> all;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const ParameterSpec& spec = parameters_[i].spec;
    all.push_back({"d_" + spec.name, case_.gradients, std::vector<float>(size_t(elements(spec.shape)))});
    op_->export_gradient(i, all.back().values.data());
  }
  return all;
}

std::vector<Values> OpRun::state() const {
  engine_.synchronize();
  std::vector<Values> all;
  for (const StateView& s : op_->state()) all.push_back({s.name, DType::f32, std::vector<float>(s.data, s.data + s.size)});
  return all;
}

std::vector<Values> OpRun::output_gradients() const {
  std::vector<Values> all;
  for (const Slot& s : d_out_) all.push_back({s.name, s.tensor.dtype, s.written});
  return all;
}

std::vector<Values> OpRun::variables() const {
  std::vector<Values> all;
  for (const Slot& s : in_)
    if (s.tensor.dtype != DType::i32) all.push_back({s.name, s.tensor.dtype, s.written});
  for (const Parameter& p : parameters_) all.push_back({p.spec.name, DType::f32, p.written});
  return all;
}

void OpRun::set_variable(size_t index, const std::vector<float>& values) {
  for (Slot& s : in_)
    if (s.tensor.dtype != DType::i32 && index-- == 0) return write(s, values);
  set_parameter(index, values);
}

std::vector<Values> OpRun::variable_gradients() const {
  engine_.synchronize();
  std::vector<Values> all;
  for (size_t i = 0; i < in_.size(); ++i) {
    if (in_[i].tensor.dtype == DType::i32) continue;
    const Slot& d = d_in_[std::min(i, d_in_.size() - 1)];  // a norm's one gradient is both inputs'
    all.push_back(d.tensor ? read(d) : Values{"", DType::f32, {}});
  }
  for (Values& v : parameter_gradients()) all.push_back(std::move(v));
  return all;
}

void OpRun::set_output_gradient(size_t index, const std::vector<float>& values) { write(d_out_[index], values); }

Difference compare(const std::vector<float>& a, const std::vector<float>& b, double rms_part, double ulp_part) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (a.size() != b.size()) return {infinity, infinity, 0, 0};
  const double n = double(std::max<size_t>(b.size(), 1));
  double squares = 0, squared_errors = 0;
  for (size_t i = 0; i < b.size(); ++i) {
    squares += double(b[i]) * b[i];
    squared_errors += std::pow(double(a[i]) - double(b[i]), 2);
  }
  const double rms = std::sqrt(squares / n), rms_error = std::sqrt(squared_errors / n);
  Difference d{0, rms_error == 0 ? 0 : rms_error / rms, rms, 0};
  for (size_t i = 0; i < b.size(); ++i) {
    const double error = std::abs(double(a[i]) - double(b[i]));
    const double over = error == 0 ? 0 : error / (rms_part * rms + ulp_part * std::abs(double(b[i])));
    if (over <= d.worst) continue;  // NaN falls through: it is never within a bound
    d.worst = std::isnan(over) ? infinity : over;
    d.at = i;
  }
  return d;
}

}  // namespace erg::test
