// CSV and Markdown: one row a run, SI numbers, only columns that hold something.
#include <gmock/gmock.h>

#include <clocale>
#include <sstream>

#include "sample_records.hpp"
#include "store/store.hpp"

namespace erg {
namespace {

std::vector<std::vector<std::string>> rows_of(const std::string& csv) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    rows.emplace_back();
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(cell);
  }
  return rows;
}

TEST(Export, CsvHasOneRowARunAndFullPrecision) {
  Record a = test::gpt_record("a", 1, 1000.0 / 3), b = test::gpt_record("b", 2, 500);
  a.coordinates = {{"workload.global_batch", "1"}};
  b.flags = {{"not_settled", ""}, {"busy_host", ""}};
  const auto rows = rows_of(to_csv({a, b}));
  ASSERT_EQ(rows.size(), 3u);
  const auto cell = [&](size_t row, const std::string& title) -> std::string {
    const auto column = std::find(rows[0].begin(), rows[0].end(), title);
    if (column == rows[0].end()) return "no such column";
    const auto i = size_t(column - rows[0].begin());
    return i < rows[row].size() ? rows[row][i] : "";
  };
  EXPECT_EQ(std::stod(cell(1, "tokens_per_s")), 1000.0 / 3);
  EXPECT_EQ(cell(1, "precision"), "bf16");
  EXPECT_EQ(cell(1, "axis.workload.global_batch"), "1");
  EXPECT_EQ(cell(2, "global_batch"), "2");
  EXPECT_EQ(cell(2, "tokens_per_s_ci95_low"), "495");
  EXPECT_EQ(cell(2, "flags"), "not_settled busy_host");
  EXPECT_EQ(cell(1, "mfu"), "no such column");  // unavailable in all rows
  EXPECT_EQ(cell(1, "images_per_s"), "no such column");
}

TEST(Export, QuotesWhatNeedsIt) {
  Record r = test::gpt_record("a", 1, 1);
  r.status_reason = "he said \"no\", twice";
  EXPECT_THAT(to_csv({r}), testing::HasSubstr("\"he said \"\"no\"\", twice\""));
}

TEST(Export, NothingIsJustATitle) { EXPECT_EQ(to_csv({}), "id\n"); }

TEST(Export, MarkdownIsATable) {
  const std::string text = to_markdown({test::gpt_record("a", 1, 123.5)});
  EXPECT_EQ(text.substr(0, 7), "| id | ");
  EXPECT_THAT(text, testing::HasSubstr("| 123.5 |"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
}

}  // namespace
}  // namespace erg
