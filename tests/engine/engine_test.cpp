// What every engine owes beside its ops: memory that is accounted for, tensors that keep their values, and clear refusals.
#include "engine/engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/rng.hpp"
#include "engines.hpp"

namespace erg::test {
namespace {

std::vector<float> random_values(int64_t count, uint64_t stream) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = random_centered(11, stream, i, 1);
  return values;
}

class EngineTest : public testing::TestWithParam<std::string> {};

TEST_P(EngineTest, MemoryIsZeroedAlignedAndAccountedFor) {
  ERG_OPEN_OR_SKIP(engine, GetParam());
  const int64_t before = engine->memory_in_use();
  {
    const std::unique_ptr<Buffer> a = engine->allocate(1000, "test"), b = engine->allocate(300, "test");
    EXPECT_GE(a->bytes(), 1000);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(b->data()) % 64, 0u);
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(static_cast<const char*>(a->data())[i], 0);
    EXPECT_GE(engine->memory_in_use(), before + 1300);
  }
  EXPECT_EQ(engine->memory_in_use(), before);
  EXPECT_GE(engine->memory_peak(), before + 1300);
  engine->reset_memory_peak();
  EXPECT_EQ(engine->memory_peak(), before);
}

TEST_P(EngineTest, TooMuchMemoryIsOutOfMemory) {
  ERG_OPEN_OR_SKIP(engine, GetParam());
  try {
    engine->allocate(int64_t(1) << 60, "a very large tensor");
    FAIL() << "2^60 bytes were allocated";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::out_of_memory);
    EXPECT_THAT(e.what(), testing::HasSubstr("a very large tensor"));
  }
}

TEST_P(EngineTest, TensorsKeepTheirValues) {
  ERG_OPEN_OR_SKIP(engine, GetParam());
  for (const DType dtype : {DType::f32, DType::bf16}) {
    if (!engine->supports(dtype)) continue;
    for (const auto& [shape, layout] :
         {std::pair<Shape, Layout>{{2, 17, 5, 3}, Layout::image}, {{3, 64, 2, 7}, Layout::image}, {{7, 33}, Layout::plain}}) {
      const std::unique_ptr<Buffer> buffer = engine->allocate(engine->storage_bytes(dtype, shape, layout), "test");
      const Tensor t = engine->view(*buffer, dtype, shape, layout);
      const std::vector<float> written = random_values(t.size(), 1);
      std::vector<float> read(written.size());
      engine->write(t, written.data());
      engine->read(t, read.data());
      for (size_t i = 0; i < written.size(); ++i)
        ASSERT_EQ(read[i], dtype == DType::bf16 ? to_float(to_bf16(written[i])) : written[i]) << name_of(dtype) << " " << i;
      engine->fill_zero(t);
      engine->read(t, read.data());
      EXPECT_THAT(read, testing::Each(0.0f));
    }
  }
}

TEST_P(EngineTest, AddSumsValueByValue) {
  ERG_OPEN_OR_SKIP(engine, GetParam());
  for (const DType dtype : {DType::f32, DType::bf16}) {
    if (!engine->supports(dtype)) continue;
    const Shape shape{2, 17, 5, 3};
    const int64_t bytes = engine->storage_bytes(dtype, shape, Layout::image);
    const std::unique_ptr<Buffer> buffer_a = engine->allocate(bytes, "test"), buffer_b = engine->allocate(bytes, "test");
    const Tensor a = engine->view(*buffer_a, dtype, shape, Layout::image), b = engine->view(*buffer_b, dtype, shape, Layout::image);
    std::vector<float> x = random_values(a.size(), 1), y = random_values(a.size(), 2), sum(x.size());
    engine->write(a, x.data());
    engine->write(b, y.data());
    engine->read(a, x.data());  // as rounded
    engine->read(b, y.data());
    engine->add(a, b);
    engine->read(a, sum.data());
    for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(sum[i], dtype == DType::bf16 ? to_float(to_bf16(x[i] + y[i])) : x[i] + y[i]);
  }
}

// Whole lines and a rest; nothing at all. The integers are exact in fp32, so that the order of the sum does not matter.
TEST_P(EngineTest, StreamsAreTheirFormulas) {
  ERG_OPEN_OR_SKIP(engine, GetParam());
  for (const int64_t count : {0, 1, 15, 16, 63, 64, 80, 1000, 4099}) {
    std::vector<std::unique_ptr<Buffer>> buffers;
    const auto tensor = [&] {
      buffers.push_back(engine->allocate(std::max<int64_t>(4 * count, 4), "test"));
      return engine->view(*buffers.back(), DType::f32, {count}, Layout::plain);
    };
    const StreamArrays x{tensor(), tensor(), tensor(), 3};
    std::vector<float> b(static_cast<size_t>(count)), c(b.size()), a(b.size());
    double sum = 0;
    for (size_t i = 0; i < b.size(); ++i) {
      b[i] = float(i % 100);
      c[i] = float(i % 7) - 3;
      sum += double(b[i]);
    }
    engine->write(x.b, b.data());
    engine->write(x.c, c.data());
    EXPECT_EQ(engine->stream(StreamKind::read, x), sum) << count;
    engine->stream(StreamKind::triad, x);
    engine->read(x.a, a.data());
    for (size_t i = 0; i < a.size(); ++i) ASSERT_EQ(a[i], b[i] + 3 * c[i]) << count << " " << i;
    engine->stream(StreamKind::copy, x);
    engine->read(x.a, a.data());
    EXPECT_EQ(a, b) << count;
    engine->stream(StreamKind::fill, x);
    engine->read(x.a, a.data());
    EXPECT_THAT(a, testing::Each(3.0f)) << count;
  }
}

TEST_P(EngineTest, ViewsStayInsideTheirBuffer) {
  ERG_OPEN_OR_SKIP(engine, GetParam());
  const std::unique_ptr<Buffer> buffer = engine->allocate(64, "test");
  EXPECT_NO_THROW(engine->view(*buffer, DType::f32, {8}, Layout::plain, 32));
  EXPECT_THROW(engine->view(*buffer, DType::f32, {9}, Layout::plain, 32), Error);
  EXPECT_THROW(engine->view(*buffer, DType::f32, {1}, Layout::plain, -4), Error);
}

TEST_P(EngineTest, ScratchGrowsAndIsShared) {
  ERG_OPEN_OR_SKIP(engine, GetParam());
  engine->reserve_scratch(1000);
  engine->reserve_scratch(500, Engine::Scratch::block);
  engine->reserve_scratch(10);
  EXPECT_GE(engine->scratch_bytes(), 1000);
  EXPECT_GE(engine->scratch_bytes(Engine::Scratch::block), 500);
  EXPECT_NE(engine->scratch(), engine->scratch(Engine::Scratch::block));
}

TEST_P(EngineTest, BottleneckNamesThePartsOfItsParametersAndState) {
  ERG_OPEN_OR_SKIP(engine, GetParam());
  const auto names = [](const auto& all) {
    std::vector<std::string> n;
    for (const auto& p : all) n.push_back(p.name);
    return n;
  };
  const std::unique_ptr<Op> identity = engine->bottleneck({2, 64, 7, 7, 16, 1, false}),
                            projection = engine->bottleneck({2, 64, 8, 8, 16, 2, true});
  std::vector<std::string> expected{"reduce.weight", "reduce.gamma",  "reduce.beta",  "spatial.weight", "spatial.gamma",
                                    "spatial.beta",  "expand.weight", "expand.gamma", "expand.beta"};
  EXPECT_EQ(names(identity->parameters()), expected);
  expected.insert(expected.end(), {"project.weight", "project.gamma", "project.beta"});
  EXPECT_EQ(names(projection->parameters()), expected);
  EXPECT_EQ(projection->parameters()[9].shape, (Shape{64, 64, 1, 1}));
  EXPECT_EQ(names(projection->state()),
            (std::vector<std::string>{"reduce.running_mean", "reduce.running_var", "spatial.running_mean", "spatial.running_var",
                                      "expand.running_mean", "expand.running_var", "project.running_mean", "project.running_var"}));
}

TEST_P(EngineTest, ImpossibleDescriptorsAreUsageErrors) {
  ERG_OPEN_OR_SKIP(engine, GetParam());
  const auto refused = [](const std::function<void()>& make) {
    try {
      make();
    } catch (const Error& e) { return e.kind() == ErrorKind::usage && !e.message().empty(); }
    return false;
  };
  EXPECT_TRUE(refused([&] { engine->conv_bn({0, 3, 8, 8, 16, 3, 1, 1}); })) << "an empty batch";
  EXPECT_TRUE(refused([&] { engine->conv_bn({1, 3, 2, 2, 16, 7, 1, 0}); })) << "a kernel larger than the image";
  EXPECT_TRUE(refused([&] { engine->bottleneck({1, 60, 8, 8, 16, 1, false}); })) << "an identity shortcut between unequal channels";
  EXPECT_TRUE(refused([&] { engine->bottleneck({1, 64, 8, 8, 16, 2, false}); })) << "an identity shortcut with a stride";
  EXPECT_TRUE(refused([&] { engine->linear({1, 0, 8}); })) << "no columns";
  EXPECT_TRUE(refused([&] { engine->linear({1, 8, 8, true, Activation::none, DType::i32}); })) << "integer activations";
  EXPECT_TRUE(refused([&] { engine->attention({1, 8, 1, 7, true}); })) << "RoPE on an odd head";
  EXPECT_TRUE(refused([&] { engine->embedding({1, 8, 10, 4, 7}); })) << "fewer positions than the sequence";
  EXPECT_TRUE(refused([&] { engine->classifier({1, 8, 10, 11}); })) << "more valid classes than classes";
}

INSTANTIATE_TEST_SUITE_P(Engines, EngineTest, testing::ValuesIn(with_ref(engines_under_test)), [](const auto& info) { return info.param; });

}  // namespace
}  // namespace erg::test
