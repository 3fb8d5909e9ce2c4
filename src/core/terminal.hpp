// What a person sees: tables on stdout and one status line on stderr. Plain lines when not a terminal; NO_COLOR is honoured.
#pragma once
#include <cstdio>
#include <string>
#include <vector>

namespace erg {

bool is_terminal(std::FILE* stream);
bool use_color(std::FILE* stream);

// A table whose columns fit their content; numbers (right) and text (left) by the header's alignment.
class Table {
 public:
  struct Column {
    std::string title;
    bool right = true;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  std::string text() const;
  std::string markdown() const;
  std::string csv() const;  // quoted as RFC 4180 says, lines end in \n

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// The one status line. On a terminal it is redrawn in place at most ten times a second; elsewhere a line is printed at most every ten
// seconds.
class StatusLine {
 public:
  explicit StatusLine(std::FILE* out = stderr, bool quiet = false);  // quiet: messages only
  ~StatusLine();
  void update(const std::string& text);
  void message(const std::string& text);  // a permanent line above the status
  void clear();

 private:
  std::FILE* out_;
  bool quiet_, terminal_, shown_ = false;
  double last_ = -1e9;
};

}  // namespace erg
