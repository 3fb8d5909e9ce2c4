// Linear head + softmax + cross-entropy, a chunk of rows at a time and in it a block of classes at a time: logits (fp32), of which only
// e^(logit - a maximum) stays, then losses, then block by block gradients of the logits and the two products that these feed. A chunk has
// enough rows to pay for reading the weights and their gradients, which are far larger than the caches; what a block needs stays in them.
#include "engine/cpu/kernels/classifier.hpp"

#include <algorithm>
#include <optional>

#include "core/error.hpp"
#include "engine/cpu/gemm.hpp"
#include "engine/cpu/kernels/add.hpp"
#include "engine/cpu/ops.hpp"

namespace erg {
namespace {

constexpr int64_t most_rows = 1024, fewest_rows = 512, most_classes = 3200;

// Chunks of equal size where rows have a divisor that is large enough.
int64_t chunk_rows(int64_t rows) {
  if (rows <= most_rows) return rows;
  for (int64_t chunk = most_rows; chunk >= fewest_rows; --chunk)
    if (rows % chunk == 0) return chunk;
  return most_rows;
}

// As few blocks as allowed, of nearly equal size.
int64_t block_classes(int64_t classes) {
  const int64_t blocks = (classes + most_classes - 1) / most_classes;
  return (classes + blocks - 1) / blocks;
}

// The products of one chunk with one block: logits [classes, rows] = W x^T, d_x += d_logits^T W, d_W += d_logits x.
struct Products {
  Gemm logits, d_x;
  WeightGradient d_weight;

  Products() = default;
  Products(const ClassifierDesc& d, int64_t rows, int64_t classes, DType gradient) {
    if (rows == 0 || classes == 0) return;
    logits = Gemm({.m = classes, .n = rows, .k = d.in, .operands = d.dtype, .result = DType::f32, .b_transposed = true});
    d_x = Gemm({.m = rows, .n = d.in, .k = classes, .operands = d.dtype, .result = DType::f32, .a_transposed = true, .accumulate = true});
    d_weight = WeightGradient(rows, d.in, classes, d.dtype, gradient);
  }
  int64_t scratch_bytes() const { return std::max(d_x.scratch_bytes(), d_weight.scratch_bytes()); }
};

class Classifier final : public ClassifierOp {
 public:
  Classifier(CpuEngine& engine, const ClassifierDesc& d) : engine_(engine), d_(d) {
    if (d_.valid_classes == 0) d_.valid_classes = d_.classes;
  }

  std::vector<ParameterSpec> parameters() const override {
    std::vector<ParameterSpec> p{{"weight", {d_.classes, d_.in}, d_.classes * d_.in, true, true}};
    if (d_.bias) p.push_back({"bias", {d_.classes}, d_.classes, false, false});
    return p;
  }

  void bind(std::span<const ParameterView> views) override {
    Trainable::bind(views);
    rows_ = chunk_rows(d_.rows);
    block_ = block_classes(d_.classes);
    ClassifierChunk whole = chunk(0);
    whole.smoothing = d_.label_smoothing;
    const int64_t last_classes = whole.classes_of(whole.blocks() - 1), floats = int64_t(sizeof(float));
    int64_t x_bytes = 0, product_bytes = 0;
    for (const bool tail : {false, true}) {
      for (const bool last : {false, true}) {
        Products& p = products_[tail][last];
        p = Products(d_, tail ? d_.rows % rows_ : rows_, last ? last_classes : block_, views[0].gradient_dtype);
        x_bytes = std::max(x_bytes, p.logits.scratch_bytes());
        product_bytes = std::max(product_bytes, p.scratch_bytes());
      }
    }
    ScratchPlan plan;
    p_ = plan.add(rows_ * d_.classes * bytes_of(d_.dtype));
    logits_ = d_.dtype == DType::f32 ? p_ : plan.add(rows_ * block_ * floats);
    d_x_ = plan.add(d_.dtype == DType::f32 ? 0 : rows_ * d_.in * floats);
    losses_ = plan.add(rows_ * floats);
    hits_ = plan.add(rows_ * floats);
    workspace_ = plan.add(classifier_workspace(whole) * floats);
    bias_sums_ = plan.add(d_.bias ? d_.classes * floats : 0);
    x_packed_ = plan.add(x_bytes);
    product_ = plan.add(product_bytes);
    engine_.reserve_scratch(plan.bytes());
  }

  void train(const Tensor& x, const Tensor& targets, const Tensor& d_x, const Tensor& metrics, Accumulate accumulate) override {
    for_each_chunk(x, targets, metrics, d_.label_smoothing, [&](const ClassifierChunk& c, int64_t first, const char* x_rows) {
      float* const d_x_sums = d_.dtype == DType::f32 ? d_x.as<float>() + first * d_.in : floats(d_x_);
      if (d_x) clear(d_x_sums, c.rows);
      for (int64_t b = 0; b < c.blocks(); ++b) {
        Products& p = products(c, b);
        const void* const d_logits = static_cast<const char*>(c.p) + c.first_class(b) * c.rows * bytes_of(d_.dtype);
        std::optional<Span> span(std::in_place, engine_.trace(), loss_work);
        classifier_kernels().gradient(c, b);
        span.emplace(engine_.trace(), product_work(part(c, b), Pass::input_gradient));
        if (d_x) p.d_x(d_logits, weight(c.first_class(b)), d_x_sums, scratch(product_));
        const bool adds = first > 0;
        span.emplace(engine_.trace(), product_work(part(c, b), Pass::weight_gradient));
        p.d_weight(d_logits, x_rows, gradient(c.first_class(b)), adds ? Accumulate::yes : accumulate, scratch(product_));
        if (d_.bias) classifier_kernels().row_sums(d_.dtype, d_logits, c.classes_of(b), c.rows, bias_sums() + c.first_class(b), adds);
      }
      if (d_x && d_.dtype != DType::f32)
        add_kernels().add_gradient(d_.dtype, static_cast<char*>(d_x.data) + first * row_bytes(), d_x_sums, c.rows * d_.in, false);
    });
    if (!d_.bias) return;
    add_kernels().add_gradient(bound()[1].gradient_dtype, bound()[1].gradient, bias_sums(), d_.classes, accumulate == Accumulate::yes);
  }

  void evaluate(const Tensor& x, const Tensor& targets, const Tensor& metrics) override {
    for_each_chunk(x, targets, metrics, 0, [](const ClassifierChunk&, int64_t, const char*) {});
  }

 private:
  // Makes the logits of each chunk and their losses and hits, lets `work` go on from there, and adds these to the metrics.
  template <class Work>
  void for_each_chunk(const Tensor& x, const Tensor& targets, const Tensor& metrics, float smoothing, Work work) {
    check_targets(targets.as<int32_t>());
    double loss = 0, hits = 0;
    for (int64_t first = 0; first < d_.rows; first += rows_) {
      ClassifierChunk c = chunk(first);
      c.targets = targets.as<int32_t>() + first;
      c.smoothing = smoothing;
      const char* const x_rows = static_cast<const char*>(x.data) + first * row_bytes();
      for (int64_t b = 0; b < c.blocks(); ++b) {
        Products& p = products(c, b);
        float* const logits = floats(logits_) + (d_.dtype == DType::f32 ? c.first_class(b) * c.rows : 0);
        std::optional<Span> span(std::in_place, engine_.trace(), product_work(part(c, b), Pass::forward));
        if (b == 0 || b + 1 == c.blocks()) p.logits.pack(x_rows, scratch(x_packed_));
        p.logits.multiply(weight(c.first_class(b)), x_rows, logits, scratch(x_packed_));
        span.emplace(engine_.trace(), loss_work);
        classifier_kernels().exponentials(c, b, logits);
      }
      classifier_kernels().losses(c);
      work(c, first, x_rows);
      for (int64_t row = 0; row < c.rows; ++row) loss += c.losses[row], hits += c.hits[row];
    }
    metrics.as<float>()[0] += float(loss);
    metrics.as<float>()[1] += float(hits);
  }

  ClassifierChunk chunk(int64_t first) const {
    ClassifierChunk c;
    c.dtype = d_.dtype;
    c.rows = std::min(rows_, d_.rows - first);
    c.classes = d_.classes;
    c.valid = d_.valid_classes;
    c.block = block_;
    c.p = scratch(p_);
    c.bias = d_.bias ? bound()[1].master : nullptr;
    c.scale = float(d_.loss_scale);
    c.losses = floats(losses_);
    c.hits = floats(hits_);
    c.workspace = floats(workspace_);
    return c;
  }
  Products& products(const ClassifierChunk& c, int64_t block) { return products_[c.rows < rows_][block + 1 == c.blocks()]; }

  // What of the op a block of a chunk is.
  ClassifierDesc part(const ClassifierChunk& c, int64_t block) const {
    ClassifierDesc d = d_;
    d.rows = c.rows, d.classes = c.classes_of(block);
    return d;
  }

  void check_targets(const int32_t* targets) const {
    for (int64_t row = 0; row < d_.rows; ++row) {
      if (targets[row] >= -1 && targets[row] < d_.valid_classes) continue;
      throw Error(ErrorKind::usage,
                  "target " + std::to_string(targets[row]) + " is none of " + std::to_string(d_.valid_classes) + " classes", "classifier");
    }
  }

  void clear(float* d_x_sums, int64_t rows) const {
    const int64_t count = rows * d_.in;
    engine_.fill_zero({DType::f32, {count}, Layout::plain, d_x_sums, count * int64_t(sizeof(float))});
  }

  int64_t row_bytes() const { return d_.in * bytes_of(d_.dtype); }
  const void* weight(int64_t first_class) const { return static_cast<const char*>(bound()[0].compute) + first_class * row_bytes(); }
  ParameterView gradient(int64_t first_class) const {
    ParameterView view = bound()[0];
    view.gradient = static_cast<char*>(view.gradient) + first_class * d_.in * bytes_of(view.gradient_dtype);
    return view;
  }
  void* scratch(int64_t offset) const { return static_cast<char*>(engine_.scratch()) + offset; }
  float* floats(int64_t offset) const { return static_cast<float*>(scratch(offset)); }
  float* bias_sums() const { return floats(bias_sums_); }

  CpuEngine& engine_;
  ClassifierDesc d_;
  int64_t rows_ = 0, block_ = 0;  // of a chunk, and classes of a block
  Products products_[2][2];       // of each chunk and of the rows that are left, with each block and with the last
  int64_t p_ = 0, logits_ = 0, d_x_ = 0, losses_ = 0, hits_ = 0, workspace_ = 0, bias_sums_ = 0;  // in scratch
  int64_t x_packed_ = 0, product_ = 0;
};

}  // namespace

std::unique_ptr<ClassifierOp> make_cpu_classifier(CpuEngine& engine, const ClassifierDesc& desc) {
  return std::make_unique<Classifier>(engine, desc);
}

}  // namespace erg
