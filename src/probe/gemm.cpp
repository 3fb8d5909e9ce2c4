// The engine's own linear op multiplies random numbers; after its last timed call, its result is checked where it lies.
#include "probe/gemm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/rng.hpp"

namespace erg {
namespace {

constexpr uint64_t seed = 20, x_stream = 1, w_stream = 2, entry_stream = 3;
constexpr int64_t entries_checked = 64;

// Random numbers are drawn once and repeated with a period that is prime, so that no two rows are alike.
std::vector<float> random_values(int64_t count, uint64_t stream) {
  constexpr size_t period = 65521;
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = i < period ? random_centered(seed, stream, i, 1) : values[i - period];
  return values;
}

double as_stored(float value, DType dtype) { return dtype == DType::bf16 ? to_float(to_bf16(value)) : value; }

// One product with its tensors.
class Product {
 public:
  Product(Engine& engine, const GemmShape& shape, DType dtype)
      : engine_(engine),
        shape_(shape),
        dtype_(dtype),
        x_values_(random_values(shape.m * shape.k, x_stream)),
        w_values_(random_values(shape.n * shape.k, w_stream)) {
    x_ = tensor({shape.m, shape.k}, dtype, "the probe's left operand");
    y_ = tensor({shape.m, shape.n}, dtype, "the probe's result");
    engine.write(x_, x_values_.data());
    op_ = engine.linear({.rows = shape.m, .in = shape.k, .out = shape.n, .bias = false, .activation = Activation::none, .dtype = dtype});
    const int64_t storage = op_->parameters().at(0).storage;
    ParameterView w;
    w.master = static_cast<float*>(tensor({storage}, DType::f32, "the probe's right operand").data);
    w.compute = dtype == DType::f32 ? w.master : tensor({storage}, dtype, "the probe's right operand").data;
    w.compute_dtype = dtype;
    op_->bind({&w, 1});
    op_->import_parameter(0, w_values_.data());
    op_->weights_changed();
  }

  void operator()() {
    op_->forward({x_}, {y_}, Mode::evaluate);
    engine_.synchronize();
  }

  GemmRate rate(const CallTimes& t) const { return {shape_, shape_.flops() / t.best_s, shape_.flops() / t.median_s, t.calls}; }

  void check(GemmCheck& check) const {
    std::vector<float> y(static_cast<size_t>(shape_.m * shape_.n));
    engine_.read(y_, y.data());
    for (int64_t e = 0; e < entries_checked; ++e) {
      const auto i = int64_t(random_bits(seed, entry_stream, uint64_t(2 * e)) % uint64_t(shape_.m));
      const auto j = int64_t(random_bits(seed, entry_stream, uint64_t(2 * e + 1)) % uint64_t(shape_.n));
      double exact = 0, absolute = 0;
      for (int64_t l = 0; l < shape_.k; ++l) {
        const double p = as_stored(x_values_[size_t(i * shape_.k + l)], dtype_) * as_stored(w_values_[size_t(j * shape_.k + l)], dtype_);
        exact += p;
        absolute += std::abs(p);
      }
      const double error = std::abs(double(y[size_t(i * shape_.n + j)]) - exact);
      const double share = error / allowed_gemm_error(dtype_, shape_.k, exact, absolute);
      check.worst = std::isfinite(share) ? std::max(check.worst, share) : INFINITY;
      ++check.entries;
    }
  }

 private:
  Tensor tensor(const Shape& shape, DType dtype, const std::string& purpose) {
    buffers_.push_back(engine_.allocate(engine_.storage_bytes(dtype, shape, Layout::plain), purpose));
    return engine_.view(*buffers_.back(), dtype, shape, Layout::plain);
  }

  Engine& engine_;
  GemmShape shape_;
  DType dtype_;
  std::vector<float> x_values_, w_values_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  Tensor x_, y_;
  std::unique_ptr<Op> op_;
};

GemmRate measure(Engine& engine, const GemmShape& shape, DType dtype, double heat_s, double measure_s, Clock& clock, GemmCheck& check) {
  Product product(engine, shape, dtype);
  const GemmRate rate = product.rate(time_calls([&] { product(); }, clock, heat_s, measure_s));
  product.check(check);
  return rate;
}

}  // namespace

const std::vector<GemmShape>& gemm_shapes() {
  static const std::vector<GemmShape> shapes = {
      {1024, 1024, 1024, "square"},
      {2048, 2048, 2048, "square"},
      {4096, 4096, 4096, "square"},
      {8192, 8192, 8192, "square"},
      {2048, 2304, 768, "gpt-117m, queries, keys and values"},
      {2048, 3072, 768, "gpt-117m, up"},
      {2048, 768, 3072, "gpt-117m, down"},
      {512, 50304, 768, "gpt-117m, a chunk of the head"},
      {2048, 8192, 2048, "gpt-800m, up"},
      {6272, 1024, 256, "resnet50, 1x1 256 to 1024 at 14, batch 32"},
      {6272, 256, 2304, "resnet50, 3x3 256 at 14, batch 32"},
      {1568, 2048, 512, "resnet50, 1x1 512 to 2048 at 7, batch 32"},
      {1568, 512, 4608, "resnet50, 3x3 512 at 7, batch 32"},
  };
  return shapes;
}

double allowed_gemm_error(DType dtype, int64_t k, double exact, double absolute) {
  const double sum = std::min(double(k), 8 * std::sqrt(double(k))) * 0x1p-24 * absolute,
               stored = dtype == DType::bf16 ? 0x1p-8 * std::abs(exact) : 0;
  return sum + stored + 1e-30;
}

GemmProbe probe_gemm(Engine& engine, DType dtype, const ProbeTimes& times, Clock& clock, const std::vector<GemmShape>& shapes) {
  if (!engine.supports(dtype))
    throw Error(ErrorKind::unavailable, fmt::format("{} products are not there on {}", name_of(dtype), engine.info().device), "probe");
  GemmProbe probe;
  std::vector<GemmShape> by_size = shapes;
  std::stable_sort(by_size.begin(), by_size.end(), [](const GemmShape& a, const GemmShape& b) { return a.flops() < b.flops(); });
  double fastest = 0;  // so far: small shapes come first
  for (const GemmShape& s : by_size) {
    if (fastest > 0 && s.flops() / fastest > times.longest_call_s) {
      probe.left_out.push_back(fmt::format("{} x {} x {}", s.m, s.n, s.k));
      continue;
    }
    probe.shapes.push_back(measure(engine, s, dtype, times.brief_heat_s, times.brief_s, clock, probe.check));
    fastest = std::max(fastest, probe.shapes.back().best_flops);
  }
  std::vector<GemmRate> ranked = probe.shapes;
  std::stable_sort(ranked.begin(), ranked.end(), [](const GemmRate& a, const GemmRate& b) { return a.best_flops > b.best_flops; });
  for (size_t i = 0; i < std::min<size_t>(2, ranked.size()); ++i) {
    const GemmRate rate = measure(engine, ranked[i].shape, dtype, times.heat_s, times.measure_s, clock, probe.check);
    if (rate.best_flops > probe.peak.best_flops) probe.peak = rate;
  }
  return probe;
}

}  // namespace erg
