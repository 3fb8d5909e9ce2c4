// Printed output held against files in tests/golden. ERGOMETER_UPDATE_GOLDEN=1 writes them anew; read the difference before committing.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace erg::test {

inline void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(ERG_SOURCE_DIR) + "/tests/golden/" + name;
  if (std::getenv("ERGOMETER_UPDATE_GOLDEN")) std::ofstream(path) << text;
  std::ifstream in(path);
  ASSERT_TRUE(in) << path;
  std::ostringstream golden;
  golden << in.rdbuf();
  EXPECT_EQ(text, golden.str());
}

}  // namespace erg::test
