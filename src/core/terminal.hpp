// What a person sees: tables on stdout and one status line on stderr. Plain lines when not a terminal; NO_COLOR is honoured.
#pragma once
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace erg {

bool is_terminal(std::FILE* stream);
bool use_color(std::FILE* stream);
// The longest beginning that fits into so many columns, ending in "…" when something was cut.
std::string elide(const std::string& text, size_t columns);

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

// Several lines that are redrawn in place, at most ten times a second, cut to the terminal's width. Only for terminals.
class Block {
 public:
  explicit Block(std::FILE* out = stderr);
  ~Block();
  bool terminal() const { return terminal_; }
  size_t rows() const;  // of the terminal, less the one the cursor stays in
  // `paint` is given every line as it will stand there and may add colours.
  void draw(const std::vector<std::string>& lines, bool now, const std::function<std::string(const std::string&)>& paint = {});
  void message(const std::string& text);  // a permanent line above the block
  void clear();

 private:
  std::FILE* out_;
  bool terminal_;
  double last_ = -1e9;
  size_t shown_ = 0;  // lines on the screen
};

}  // namespace erg
