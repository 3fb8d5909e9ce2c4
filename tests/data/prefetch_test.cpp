// The prefetch queue: order, errors, shutdown in every state, and how far it runs ahead.
#include "data/prefetch.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <stdexcept>

namespace erg {
namespace {

using Item = std::vector<int64_t>;

TEST(Prefetch, KeepsTheOrderForAnyNumberOfWorkers) {
  for (const int workers : {1, 2, 7}) {
    Prefetch<Item> prefetch([](Item& item, int64_t index, int64_t part, int) { item[size_t(part)] = index * 100 + part; }, Item(5), 5,
                            workers, 3);
    for (int64_t i = 0; i < 200; ++i) {
      const Item& item = prefetch.next();
      for (int64_t part = 0; part < 5; ++part) ASSERT_EQ(item[size_t(part)], i * 100 + part);
    }
  }
}

TEST(Prefetch, EachPartIsMadeOnceByAKnownWorker) {
  std::atomic<int> calls = 0, strangers = 0;
  {
    Prefetch<Item> prefetch(
        [&](Item& item, int64_t, int64_t part, int worker) {
          ++calls;
          if (worker < 0 || worker >= 3) ++strangers;
          ++item[size_t(part)];
        },
        Item(4), 4, 3, 1);
    for (int64_t i = 0; i < 10; ++i) {
      for (const int64_t made : prefetch.next()) EXPECT_EQ(made, i / 2 + 1);  // two items take turns
    }
  }
  EXPECT_EQ(strangers, 0);
  EXPECT_GE(calls, 40);
  EXPECT_LE(calls, 44);
}

TEST(Prefetch, TheHeldItemStaysUntilTheNextCall) {
  std::latch ahead(3);  // items 1, 2 and 3 get made while item 0 is held: three ahead
  Prefetch<Item> prefetch(
      [&](Item& item, int64_t index, int64_t, int) {
        item[0] = index;
        if (index >= 1 && index <= 3) ahead.count_down();
      },
      Item(1), 1, 2, 3);
  const Item& held = prefetch.next();
  ahead.wait();
  EXPECT_EQ(held[0], 0);
}

TEST(Prefetch, GivesTheFirstFailedPartsErrorAndGoesOn) {
  Prefetch<Item> prefetch(
      [](Item& item, int64_t index, int64_t part, int) {
        item[size_t(part)] = index;
        if (index == 2 && part >= 3) throw std::runtime_error("part " + std::to_string(part));
      },
      Item(8), 8, 4, 2);
  EXPECT_EQ(prefetch.next()[0], 0);
  EXPECT_EQ(prefetch.next()[0], 1);
  try {
    prefetch.next();
    FAIL() << "the error was lost";
  } catch (const std::runtime_error& e) { EXPECT_STREQ(e.what(), "part 3"); }
  for (int64_t i = 3; i < 12; ++i) EXPECT_EQ(prefetch.next()[0], i);  // its slot is used again, without the error
}

TEST(Prefetch, EndsUnusedAndWhileWorkersWait) {
  const auto make = [](Item& item, int64_t index, int64_t part, int) { item[size_t(part)] = index; };
  for (int i = 0; i < 20; ++i) Prefetch<Item>(make, Item(2), 2, 4, 2);  // at once: threads may not even have begun
  std::latch full(3);
  Prefetch<Item> waiting([&](Item&, int64_t, int64_t, int) { full.count_down(); }, Item(1), 1, 4, 2);
  full.wait();  // both items ahead and the first one are made: no room is left, the workers wait
}

}  // namespace
}  // namespace erg
