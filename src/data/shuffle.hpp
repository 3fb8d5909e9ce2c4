// A random order of n things without a table: position -> thing is one to one, decided by a key. Billions of text windows need no memory.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/rng.hpp"

namespace erg {

// A four-round Feistel network (Luby and Rackoff 1988) over the next even number of bits; positions that land at or above n walk on
// until they are inside (Black and Rogaway 2002), fewer than four steps on average.
constexpr int64_t shuffled(int64_t position, int64_t n, uint64_t key) {
  const int half = std::max(1, (int(std::bit_width(uint64_t(n - 1))) + 1) / 2);
  const uint64_t mask = (uint64_t(1) << half) - 1;
  uint64_t x = uint64_t(position);
  do {
    uint64_t left = x >> half, right = x & mask;
    for (uint64_t round = 0; round < 4; ++round) {
      const uint64_t next = left ^ (random_bits(key, round, right) & mask);
      left = right;
      right = next;
    }
    x = left << half | right;
  } while (x >= uint64_t(n));
  return int64_t(x);
}

}  // namespace erg
