// Which engines the tests run on, and opening one or skipping with the reason.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "engine/engine.hpp"
#include "op_cases.hpp"

namespace erg::test {

// Engines beside `ref` that are held to it. One that cannot be opened here is skipped, saying why.
inline const std::vector<std::string> engines_under_test{"cpu"};

inline std::vector<std::string> with_ref(std::vector<std::string> engines) {
  engines.insert(engines.begin(), "ref");
  return engines;
}

inline DType dtype_of(const OpDesc& desc) {
  return std::visit([](const auto& d) { return d.dtype; }, desc);
}

// Letters, digits and underscores, which is all that GoogleTest's names may have.
inline std::string test_name(const std::string& text) {
  std::string name;
  for (const char c : text) {
    if (c == '>') continue;
    name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  }
  return name;
}

struct EngineCase {
  std::string engine;
  OpCase op;
};
inline void PrintTo(const EngineCase& c, std::ostream* os) { *os << c.engine << ": " << name_of(c.op); }

inline std::vector<EngineCase> engine_cases(const std::vector<std::string>& engines, bool (*wanted)(const OpCase&) = nullptr) {
  std::vector<EngineCase> all;
  for (const std::string& engine : engines)
    for (const OpCase& c : op_cases())
      if (!wanted || wanted(c)) all.push_back({engine, c});
  return all;
}
inline std::string engine_case_name(const testing::TestParamInfo<EngineCase>& info) {
  return test_name(info.param.engine + " " + name_of(info.param.op));
}

}  // namespace erg::test

// Opens `name` into std::unique_ptr<Engine> `variable`, or skips the test where the device or its library is not there.
// Whatever an engine throws once it is open is a failure.
#define ERG_OPEN_OR_SKIP(variable, name)                                    \
  std::unique_ptr<erg::Engine> variable;                                    \
  try {                                                                     \
    variable = erg::open_engine(name);                                      \
  } catch (const erg::Error& e) {                                           \
    if (e.kind() != erg::ErrorKind::unavailable) throw;                     \
    GTEST_SKIP() << "engine " << (name) << " is unavailable: " << e.what(); \
  }
