// Optimizers: `ref` and every other engine against PyTorch over three steps, other engines against `ref` on odd sizes and in bf16, and the
// gradient norm against its definition.
#include <cmath>

#include "allocations.hpp"
#include "core/rng.hpp"
#include "engines.hpp"
#include "op_run.hpp"
#include "torch_reference.hpp"

namespace erg::test {
namespace {

constexpr AdamWStep adamw{0.01, 0.9, 0.95, 1e-8, 0.1, 1, 0};
constexpr SgdStep sgd{0.1, 0.9, 0.01, 1};

// Flat storage with weights and gradients by formula, on one engine.
class Storage {
 public:
  Storage(Engine& engine, int64_t elements, int64_t decayed, DType compute, DType gradient)
      : engine_(engine), optimizer_(engine.optimizer()) {
    flat_.elements = elements;
    flat_.decay_elements = decayed;
    flat_.compute_dtype = compute;
    flat_.gradient_dtype = gradient;
    flat_.master = static_cast<float*>(take(DType::f32));
    flat_.state1 = static_cast<float*>(take(DType::f32));
    flat_.state2 = static_cast<float*>(take(DType::f32));
    flat_.gradient = take(gradient);
    if (compute != DType::f32) flat_.compute = take(compute);
    norm_buffer_ = engine.allocate(64, "test norm");
    norm_ = engine.view(*norm_buffer_, DType::f32, {1}, Layout::plain);
    engine.write(plain(flat_.master, DType::f32), values(1, "master", 0.5).data());
  }

  void set_gradient(uint64_t step, double std = 1) {
    engine_.write(plain(flat_.gradient, flat_.gradient_dtype), values(step, "gradient", std).data());
  }
  void step(AdamWStep s) {
    optimizer_->gradient_norm(flat_, norm_);
    optimizer_->adamw(flat_, s, norm_);
  }
  void step(SgdStep s) { optimizer_->sgd(flat_, s); }

  double squared_norm() {
    optimizer_->gradient_norm(flat_, norm_);
    engine_.synchronize();
    float n = 0;
    engine_.read(norm_, &n);
    return n;
  }
  std::vector<float> master() const { return read(flat_.master, DType::f32); }
  std::vector<float> gradient() const { return read(flat_.gradient, flat_.gradient_dtype); }
  std::vector<float> compute() const { return read(flat_.compute, flat_.compute_dtype); }

 private:
  void* take(DType dtype) {
    buffers_.push_back(engine_.allocate(flat_.elements * bytes_of(dtype), "test storage"));
    return buffers_.back()->data();
  }
  Tensor plain(void* data, DType dtype) const { return {dtype, {flat_.elements}, Layout::plain, data, flat_.elements * bytes_of(dtype)}; }
  std::vector<float> values(uint64_t seed, const char* name, double std) const {
    std::vector<float> v(static_cast<size_t>(flat_.elements));
    for (size_t i = 0; i < v.size(); ++i) v[i] = random_centered(seed, stream_of(name), i, std);
    return v;
  }
  std::vector<float> read(void* data, DType dtype) const {
    engine_.synchronize();
    std::vector<float> v(static_cast<size_t>(flat_.elements));
    engine_.read(plain(data, dtype), v.data());
    return v;
  }

  Engine& engine_;
  std::unique_ptr<OptimizerOp> optimizer_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::unique_ptr<Buffer> norm_buffer_;
  FlatStorage flat_;
  Tensor norm_;
};

template <class Step>
void train(Storage& storage, Step s) {
  for (int64_t step = 1; step <= 3; ++step) {
    storage.set_gradient(uint64_t(step));
    s.step = step;
    storage.step(s);
  }
}

class OptimizerTest : public testing::TestWithParam<std::string> {
 protected:
  // Every step is a handful of fp32 operations on values near one: a few units of 2^-24 each.
  static void expect_close(const std::vector<float>& actual, const std::vector<float>& truth) {
    ASSERT_EQ(actual.size(), truth.size());
    for (size_t i = 0; i < truth.size(); ++i) ASSERT_NEAR(actual[i], truth[i], 1e-6) << "weight " << i;
  }
};

TEST_P(OptimizerTest, StepsAsTorch) {
  ERG_OPEN_OR_SKIP(engine, GetParam());
  const json& truth = torch_reference()["optimizers"];
  const auto fresh = [&] { return Storage(*engine, 11, 6, DType::f32, DType::f32); };
  AdamWStep clipped = adamw;
  clipped.clip = 1;
  Storage a = fresh(), b = fresh(), c = fresh();
  train(a, adamw);
  train(b, clipped);
  train(c, sgd);
  expect_close(a.master(), truth["adamw"].get<std::vector<float>>());
  expect_close(b.master(), truth["adamw clipped"].get<std::vector<float>>());
  expect_close(c.master(), truth["sgd"].get<std::vector<float>>());
}

TEST_P(OptimizerTest, MatchesRefInEveryPrecisionAndKeepsTheCopyRounded) {
  ERG_OPEN_OR_SKIP(engine, GetParam());
  const std::unique_ptr<Engine> ref = open_engine("ref");
  for (const DType gradient : {DType::f32, DType::bf16})
    for (const auto& [elements, decayed] : {std::pair<int64_t, int64_t>{1, 0}, {67, 67}, {100003, 64064}}) {
      AdamWStep clipped = adamw;
      clipped.clip = 0.5;
      const auto check = [&](auto step) {
        Storage a(*engine, elements, decayed, DType::bf16, gradient), b(*ref, elements, decayed, DType::bf16, gradient);
        train(a, step);
        train(b, step);
        expect_close(a.master(), b.master());
        const std::vector<float> master = a.master(), compute = a.compute();
        for (size_t i = 0; i < master.size(); ++i) ASSERT_EQ(compute[i], to_float(to_bf16(master[i]))) << i;
      };
      check(adamw);
      check(clipped);
      check(sgd);
    }
}

TEST_P(OptimizerTest, GradientNormIsTheSumOfSquares) {
  ERG_OPEN_OR_SKIP(engine, GetParam());
  for (const DType gradient : {DType::f32, DType::bf16}) {
    Storage s(*engine, 100003, 10, DType::f32, gradient);
    for (const double std : {1.0, 1e-3}) {  // the second call overwrites the first one's result
      s.set_gradient(1, std);
      double sum = 0;
      for (const float g : s.gradient()) sum += double(g) * g;
      EXPECT_NEAR(s.squared_norm(), sum, 1e-5 * sum);
    }
  }
}

TEST_P(OptimizerTest, ClipsOnlyWhatIsTooLong) {
  ERG_OPEN_OR_SKIP(engine, GetParam());
  Storage a(*engine, 100, 0, DType::f32, DType::f32), b(*engine, 100, 0, DType::f32, DType::f32);
  AdamWStep far = adamw;
  far.clip = 1e6;
  train(a, adamw);
  train(b, far);
  EXPECT_EQ(a.master(), b.master());
}

TEST_P(OptimizerTest, AllocatesNothingAfterTheFirstStep) {
  if (!allocations_are_counted()) GTEST_SKIP() << "the address sanitizer has its own malloc";
  ERG_OPEN_OR_SKIP(engine, GetParam());
  Storage s(*engine, 100003, 10, DType::bf16, DType::bf16);
  AdamWStep clipped = adamw;
  clipped.clip = 1;
  s.step(clipped);
  s.step(sgd);
  AllocationCount allocations;
  s.step(clipped);
  s.step(sgd);
  const long count = allocations.count();
  EXPECT_EQ(count, 0) << "the first by " << allocations.first();
}

INSTANTIATE_TEST_SUITE_P(Engines, OptimizerTest, testing::ValuesIn(with_ref(engines_under_test)),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace erg::test
