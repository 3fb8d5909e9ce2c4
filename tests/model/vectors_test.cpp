// The rows on FLOPs and parameters of the shared closed-form test vectors, computed by us.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "model/network.hpp"

namespace erg {
namespace {

using Row = std::map<std::string, std::string>;

std::vector<std::string> split_csv(const std::string& line) {  // RFC 4180 without line breaks in cells
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      cells.emplace_back();
    else
      cells.back() += c;
  }
  return cells;
}

std::vector<Row> read_rows(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> header = split_csv(line);
  std::vector<Row> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = split_csv(line);
    for (Row& row = rows.emplace_back(); const std::string& name : header) row[name] = cells.at(row.size());
  }
  return rows;
}

GptShape shape_of(const Row& row) {
  GptShape g;
  g.layers = std::stoll(row.at("layers")), g.hidden = std::stoll(row.at("hidden")), g.sequence = std::stoll(row.at("seq_len"));
  g.heads = 1, g.ffn = 4 * g.hidden;
  g.vocabulary = g.padded_vocabulary = std::stoll(row.at("vocab"));
  return g;
}

TEST(SharedVectors, FlopsAndParameters) {
  const std::string path = std::string(ERG_SOURCE_DIR) + "/../shared/reference/data/memory_vectors.csv";
  if (!std::ifstream(path)) GTEST_SKIP() << "no " << path << " on this machine";
  int checked = 0;
  for (const Row& row : read_rows(path)) {
    const std::string& quantity = row.at("quantity");
    const double expected = std::stod(row.at("expected"));
    SCOPED_TRACE(row.at("id") + " " + quantity + " " + row.at("model"));
    if (quantity.rfind("model FLOP per token, K-model", 0) == 0) {
      const GptShape g = shape_of(row);
      EXPECT_NEAR(gpt_step_flops(g, 1, "full") / double(g.sequence) / expected, 1, 1e-6);
    } else if (quantity.rfind("FLOP per token, N-96", 0) == 0) {
      const GptShape g = shape_of(row);
      EXPECT_NEAR(gpt_step_flops(g, 1, "caraml") / double(g.sequence) / expected, 1, 1e-6);
    } else if (quantity.rfind("parameters with ", 0) == 0) {
      EXPECT_EQ(double(gpt_parameters(shape_of(row))), expected);
    } else if (quantity.rfind("ResNet-50 v1.5 forward MAC", 0) == 0) {
      EXPECT_EQ(resnet_image_macs(ResNetShape{}), expected);
    } else if (quantity == "ResNet-50 parameters") {
      EXPECT_EQ(double(resnet_parameters(ResNetShape{})), expected);
    } else {
      continue;
    }
    ++checked;
  }
  EXPECT_EQ(checked, 10);
}

}  // namespace
}  // namespace erg
