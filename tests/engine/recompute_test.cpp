// An op that offers to make its outputs again (engine/recomputable.hpp) makes the same bits.
#include "core/rng.hpp"
#include "engine/recomputable.hpp"
#include "engines.hpp"

namespace erg::test {
namespace {

class Recompute : public testing::TestWithParam<std::string> {
 protected:
  std::vector<float> random(int64_t count, uint64_t stream) const {
    std::vector<float> values(static_cast<size_t>(count));
    for (size_t i = 0; i < values.size(); ++i) values[i] = random_centered(5, stream, i, 1);
    return values;
  }
};

TEST_P(Recompute, GivesAnActivatedLinearsOutputAgain) {
  ERG_OPEN_OR_SKIP(engine, GetParam());
  for (const DType dtype : {DType::f32, DType::bf16}) {
    if (!engine->supports(dtype)) continue;
    const LinearDesc d{37, 40, 50, false, Activation::gelu_tanh, dtype};
    const std::unique_ptr<Op> op = engine->linear(d);
    Recomputable* const recomputable = dynamic_cast<Recomputable*>(op.get());
    ASSERT_NE(recomputable, nullptr);

    std::vector<std::unique_ptr<Buffer>> buffers;
    const auto allocate = [&](DType type, const Shape& shape) {
      buffers.push_back(engine->allocate(engine->storage_bytes(type, shape, Layout::plain), "test"));
      return engine->view(*buffers.back(), type, shape, Layout::plain);
    };
    const int64_t storage = op->parameters()[0].storage;
    ParameterView weight;
    weight.master = allocate(DType::f32, {storage}).as<float>();
    weight.compute = dtype == DType::f32 ? weight.master : allocate(dtype, {storage}).data;
    weight.gradient = allocate(DType::f32, {storage}).data;
    weight.compute_dtype = dtype;
    op->bind(std::span(&weight, 1));
    op->import_parameter(0, random(d.out * d.in, 1).data());
    op->weights_changed();

    const Tensor x = allocate(dtype, {d.rows, d.in}), y = allocate(dtype, {d.rows, d.out});
    engine->write(x, random(d.rows * d.in, 2).data());
    op->forward({x}, {y});
    std::vector<float> first(size_t(y.size())), again(first);
    engine->read(y, first.data());
    engine->fill_zero(y);
    recomputable->recompute(Inputs(&y, 1));
    engine->synchronize();
    engine->read(y, again.data());
    EXPECT_EQ(again, first) << name_of(dtype);
    EXPECT_NE(first, std::vector<float>(first.size()));
  }
}

// Without an activation nothing is kept that the output could be made of.
TEST_P(Recompute, IsNotOfferedByAPlainLinear) {
  ERG_OPEN_OR_SKIP(engine, GetParam());
  EXPECT_EQ(dynamic_cast<Recomputable*>(engine->linear({4, 8, 8}).get()), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Engines, Recompute, testing::ValuesIn(with_ref(engines_under_test)));

}  // namespace
}  // namespace erg::test
