// Values are small whole numbers, whose sums are exact: a wrong one anywhere is seen.
#include "probe/memory.hpp"

#include <array>

namespace erg {
namespace {

struct Kind {
  const char* name;
  StreamKind kind;
  int arrays;      // that it moves
  double a_after;  // what every value of a is then, with b = 1, c = 2, scalar = 3
};
constexpr std::array kinds = {Kind{"fill", StreamKind::fill, 1, 3}, Kind{"read", StreamKind::read, 1, 3},
                              Kind{"copy", StreamKind::copy, 2, 1}, Kind{"triad", StreamKind::triad, 3, 7}};

}  // namespace

MemoryProbe probe_memory(Engine& engine, int64_t array_bytes, double measure_s, Clock& clock) {
  const int64_t count = array_bytes / 4096 * 1024;  // whole pages
  std::array<std::unique_ptr<Buffer>, 3> buffers;
  std::array<Tensor, 3> t;
  for (size_t i = 0; i < 3; ++i) {
    buffers[i] = engine.allocate(4 * count, "the memory probe");
    t[i] = engine.view(*buffers[i], DType::f32, {count}, Layout::plain);
  }
  const StreamArrays arrays{t[0], t[1], t[2], 3};
  engine.stream(StreamKind::fill, {t[1], {}, {}, 1});
  engine.stream(StreamKind::fill, {t[2], {}, {}, 2});

  MemoryProbe probe{
      .array_bytes = 4 * count, .non_temporal_stores = engine.info().non_temporal_stores, .streams = {}, .check_passed = true};
  for (const Kind& k : kinds) {
    double sum = 0;
    const CallTimes times = time_calls(
        [&] {
          sum = engine.stream(k.kind, arrays);
          engine.synchronize();
        },
        clock, 0.1 * measure_s, measure_s, 5);
    const double bytes = double(k.arrays) * 4 * double(count);
    probe.streams.push_back({k.name, bytes / times.best_s, bytes / times.median_s, times.calls});
    const double a_sum = engine.stream(StreamKind::read, {{}, t[0], {}, 0});
    probe.check_passed &= a_sum == k.a_after * double(count) && (k.kind != StreamKind::read || sum == double(count));
  }
  return probe;
}

CallTimes probe_empty_call(Engine& engine, double measure_s, Clock& clock) {
  return time_calls(
      [&] {
        engine.stream(StreamKind::fill, {});
        engine.synchronize();
      },
      clock, 0.1 * measure_s, measure_s);
}

}  // namespace erg
