// Every export format: one row, line or log a run, SI numbers, in every locale.
#include "store/export.hpp"

#include <gmock/gmock.h>

#include <clocale>
#include <locale>
#include <sstream>

#include "sample_records.hpp"

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

// RFC 4180: quotes are doubled inside quotes, line breaks stay. What a spreadsheet might take for a formula is data, left as it is.
TEST(Export, CsvKeepsEveryCharacter) {
  Record r = test::gpt_record("a", 1, 1);
  r.status_reason = "two\nlines\r\n and \"quotes\"";
  r.spec["name"] = "=1+1, Größe";
  EXPECT_THAT(to_csv({r}), testing::HasSubstr("\"two\nlines\r\n and \"\"quotes\"\"\""));
  EXPECT_THAT(to_csv({r}), testing::HasSubstr("\"=1+1, Größe\""));
  for (const char* name : {"=1", "+1", "-1", "@x"}) {
    r.spec["name"] = name;
    EXPECT_THAT(to_csv({r}), testing::HasSubstr(std::string(",") + name + ","));
  }
}

// Decimal commas and grouped digits, as in German, set for C++ streams; and for C where the machine has such a locale.
struct Comma : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(Export, NumbersAreTheSameInEveryLocale) {
  const std::vector<Record> records = {test::gpt_record("a", 1, 12345.625)};
  const auto all = [&] { return to_csv(records) + to_markdown(records) + to_jsonl(records) + to_mllog(records); };
  const std::string plain = all();
  EXPECT_THAT(plain, testing::HasSubstr("12345.625"));
  const std::locale before = std::locale::global(std::locale(std::locale(), new Comma));
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"})
    if (std::setlocale(LC_NUMERIC, name)) break;
  std::ostringstream proof;
  proof << 1234.5;
  EXPECT_EQ(proof.str(), "1.234,5");  // the locale is in force
  EXPECT_EQ(all(), plain);
  std::locale::global(before);
  std::setlocale(LC_NUMERIC, "C");
}

TEST(Export, JsonLinesAreRecords) {
  Record odd = test::gpt_record("b", 2, 500);
  odd.status_reason = "a\nb \xff";  // a line break and a byte that is not UTF-8
  const std::string text = to_jsonl({test::gpt_record("a", 1, 1000.0 / 3), odd});
  std::istringstream lines(text);
  std::vector<Record> back;
  for (std::string line; std::getline(lines, line);) back.push_back(record_from_json(Json::parse(line)));
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(*back[0].metrics.at("tokens_per_s").value, 1000.0 / 3);
  EXPECT_EQ(back[1].status_reason, "a\nb \xef\xbf\xbd");
  EXPECT_EQ(to_jsonl({}), "");
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
