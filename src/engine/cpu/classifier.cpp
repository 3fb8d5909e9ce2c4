// Linear head + softmax + cross-entropy, a chunk of rows at a time: logits (fp32), losses and gradients of the logits, and the two
// products that these feed, before the next chunk takes the same memory. A chunk has enough rows to pay for reading the weights, which
// are far larger than the caches.
#include "engine/cpu/kernels/classifier.hpp"

#include <algorithm>
#include <optional>

#include "core/error.hpp"
#include "engine/cpu/gemm.hpp"
#include "engine/cpu/kernels/add.hpp"
#include "engine/cpu/ops.hpp"

namespace erg {
namespace {

constexpr int64_t most_rows = 512, fewest_rows = 256;

// Chunks of equal size where rows have a divisor that is large enough.
int64_t chunk_rows(int64_t rows) {
  if (rows <= most_rows) return rows;
  for (int64_t chunk = most_rows; chunk >= fewest_rows; --chunk)
    if (rows % chunk == 0) return chunk;
  return most_rows;
}

// The products of one chunk.
struct Products {
  int64_t rows = 0;
  ClassifierDesc desc;  // of the chunk
  Gemm logits, d_x;
  WeightGradient d_weight;

  Products() = default;
  Products(const ClassifierDesc& d, int64_t rows, DType gradient) : rows(rows), desc(d) {
    desc.rows = rows;
    if (rows == 0) return;
    logits = Gemm({.m = rows, .n = d.classes, .k = d.in, .operands = d.dtype, .result = DType::f32, .b_transposed = true, .bias = d.bias});
    d_x = Gemm({.m = rows, .n = d.in, .k = d.classes, .operands = d.dtype, .result = d.dtype});
    d_weight = WeightGradient(rows, d.in, d.classes, d.dtype, gradient);
  }
};

class Classifier final : public ClassifierOp {
 public:
  Classifier(CpuEngine& engine, const ClassifierDesc& d) : engine_(engine), d_(d) {
    if (d_.valid_classes == 0) d_.valid_classes = d_.classes;
  }

  std::vector<ParameterSpec> parameters() const override {
    std::vector<ParameterSpec> p{{"weight", {d_.classes, d_.in}, count(0), true, true}};
    if (d_.bias) p.push_back({"bias", {d_.classes}, count(1), false, false});
    return p;
  }

  void bind(std::span<const ParameterView> views) override {
    Trainable::bind(views);
    const int64_t chunk = chunk_rows(d_.rows);
    chunk_ = Products(d_, chunk, views[0].gradient_dtype);
    tail_ = Products(d_, d_.rows % chunk, views[0].gradient_dtype);
    ScratchPlan plan;
    logits_ = plan.add(chunk * d_.classes * int64_t(sizeof(float)));
    d_logits_ = d_.dtype == DType::f32 ? logits_ : plan.add(chunk * d_.classes * bytes_of(d_.dtype));
    transposed_ = plan.add(chunk * d_.classes * bytes_of(d_.dtype));
    losses_ = plan.add(chunk * int64_t(sizeof(float)));
    hits_ = plan.add(chunk * int64_t(sizeof(float)));
    bias_sums_ = plan.add(d_.bias ? count(1) * int64_t(sizeof(float)) : 0);
    logits_gemm_ = plan.add(std::max(chunk_.logits.scratch_bytes(), tail_.logits.scratch_bytes()));
    d_x_gemm_ = plan.add(std::max(chunk_.d_x.scratch_bytes(), tail_.d_x.scratch_bytes()));
    d_weight_gemm_ = plan.add(std::max(chunk_.d_weight.scratch_bytes(), tail_.d_weight.scratch_bytes()));
    engine_.reserve_scratch(plan.bytes());
  }

  void train(const Tensor& x, const Tensor& targets, const Tensor& d_x, const Tensor& metrics, Accumulate accumulate) override {
    for_each_chunk(x, targets, metrics, [&](Products& p, int64_t first, const char* x_rows, ClassifierChunk& c, bool packs) {
      std::optional<Span> span(std::in_place, engine_.trace(), loss_work(p.desc));
      classifier_kernels().train(c);
      if (d_x) {
        span.emplace(engine_.trace(), product_work(p.desc, Pass::input_gradient));
        if (packs) p.d_x.pack(weight(), scratch(d_x_gemm_));
        p.d_x.multiply(c.d_logits, weight(), static_cast<char*>(d_x.data) + first * row_bytes(), scratch(d_x_gemm_));
      }
      const bool adds = first > 0;
      span.emplace(engine_.trace(), product_work(p.desc, Pass::weight_gradient));
      p.d_weight(c.transposed, x_rows, bound()[0], adds ? Accumulate::yes : accumulate, scratch(d_weight_gemm_));
      if (d_.bias) classifier_kernels().row_sums(d_.dtype, c.transposed, d_.classes, p.rows, bias_sums(), adds);
    });
    if (!d_.bias) return;
    add_kernels().add_gradient(bound()[1].gradient_dtype, bound()[1].gradient, bias_sums(), d_.classes, accumulate == Accumulate::yes);
  }

  void evaluate(const Tensor& x, const Tensor& targets, const Tensor& metrics) override {
    for_each_chunk(x, targets, metrics,
                   [&](Products&, int64_t, const char*, ClassifierChunk& c, bool) { classifier_kernels().evaluate(c); });
  }

 private:
  // Makes the logits of each chunk, lets `work` make losses and hits of them, and adds these to the metrics.
  template <class Work>
  void for_each_chunk(const Tensor& x, const Tensor& targets, const Tensor& metrics, Work work) {
    check_targets(targets.as<int32_t>());
    double loss = 0, hits = 0;
    for (int64_t first = 0; first < d_.rows; first += chunk_.rows) {
      const bool is_tail = d_.rows - first < chunk_.rows, packs = first == 0 || is_tail;
      Products& p = is_tail ? tail_ : chunk_;
      ClassifierChunk c;
      c.dtype = d_.dtype;
      c.rows = p.rows;
      c.classes = d_.classes;
      c.valid = d_.valid_classes;
      c.logits = static_cast<float*>(scratch(logits_));
      c.targets = targets.as<int32_t>() + first;
      c.smoothing = d_.label_smoothing;
      c.scale = float(d_.loss_scale);
      c.losses = static_cast<float*>(scratch(losses_));
      c.hits = static_cast<float*>(scratch(hits_));
      c.d_logits = scratch(d_logits_);
      c.transposed = scratch(transposed_);
      const char* const x_rows = static_cast<const char*>(x.data) + first * row_bytes();
      {
        const Span span(engine_.trace(), product_work(p.desc, Pass::forward));
        if (packs) p.logits.pack(weight(), scratch(logits_gemm_));
        p.logits.multiply(x_rows, weight(), c.logits, scratch(logits_gemm_), d_.bias ? bound()[1].master : nullptr);
      }
      work(p, first, x_rows, c, packs);
      for (int64_t row = 0; row < p.rows; ++row) loss += c.losses[row], hits += c.hits[row];
    }
    metrics.as<float>()[0] += float(loss);
    metrics.as<float>()[1] += float(hits);
  }

  void check_targets(const int32_t* targets) const {
    for (int64_t row = 0; row < d_.rows; ++row) {
      if (targets[row] >= -1 && targets[row] < d_.valid_classes) continue;
      throw Error(ErrorKind::usage,
                  "target " + std::to_string(targets[row]) + " is none of " + std::to_string(d_.valid_classes) + " classes", "classifier");
    }
  }

  int64_t count(size_t parameter) const { return parameter == 0 ? d_.classes * d_.in : d_.classes; }
  int64_t row_bytes() const { return d_.in * bytes_of(d_.dtype); }
  const void* weight() const { return bound()[0].compute; }
  void* scratch(int64_t offset) const { return static_cast<char*>(engine_.scratch()) + offset; }
  float* bias_sums() const { return static_cast<float*>(scratch(bias_sums_)); }

  CpuEngine& engine_;
  ClassifierDesc d_;
  Products chunk_, tail_;  // of each chunk, and of the rows that are left
  int64_t logits_ = 0, d_logits_ = 0, transposed_ = 0, losses_ = 0, hits_ = 0, bias_sums_ = 0;  // in scratch
  int64_t logits_gemm_ = 0, d_x_gemm_ = 0, d_weight_gemm_ = 0;
};

}  // namespace

std::unique_ptr<ClassifierOp> make_cpu_classifier(CpuEngine& engine, const ClassifierDesc& desc) {
  return std::make_unique<Classifier>(engine, desc);
}

}  // namespace erg
