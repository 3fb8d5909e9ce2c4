// Counts heap allocations of the whole process, on every thread, while a scope of AllocationCount lives.
#pragma once
#include <string>

namespace erg::test {

bool allocations_are_counted();  // false under the address sanitizer, which has its own malloc

class AllocationCount {
 public:
  AllocationCount();
  ~AllocationCount();
  long count() const;
  std::string first() const;  // who made the first one: "symbol in library, 128 bytes"
};

}  // namespace erg::test
