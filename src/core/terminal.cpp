// Tables in three dialects, and the status line.
#include "core/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "core/clock.hpp"

namespace erg {
namespace {

struct CodePoint {
  char32_t value;
  size_t bytes;
};

// The first code point of `text`; an invalid byte counts as one code point of its own.
CodePoint first_code_point(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const size_t bytes = lead < 0x80 ? 1 : lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 0;
  if (bytes == 0 || bytes > text.size()) return {U'\uFFFD', 1};
  char32_t value = bytes == 1 ? lead : lead & (0x7f >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if (byte(i) >> 6 != 2) return {U'\uFFFD', 1};
    value = value << 6 | (byte(i) & 0x3f);
  }
  return {value, bytes};
}

// Columns of a terminal: combining marks take none, East Asian wide characters and emoji two (Unicode UAX #11, the main blocks).
int columns_of(char32_t c) {
  const auto in = [c](char32_t first, char32_t last) { return c >= first && c <= last; };
  if (in(0x300, 0x36f) || in(0x200b, 0x200f) || in(0x20d0, 0x20ff) || in(0xfe00, 0xfe0f)) return 0;
  if (in(0x1100, 0x115f) || in(0x2e80, 0xa4cf) || in(0xac00, 0xd7a3) || in(0xf900, 0xfaff) || in(0xfe30, 0xfe6f) || in(0xff00, 0xff60) ||
      in(0xffe0, 0xffe6) || in(0x1f300, 0x1f64f) || in(0x1f900, 0x1f9ff) || in(0x20000, 0x3fffd))
    return 2;
  return 1;
}

size_t width(std::string_view text) {
  size_t columns = 0;
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    columns += size_t(columns_of(c.value));
    text.remove_prefix(c.bytes);
  }
  return columns;
}

struct Screen {
  size_t columns, rows;
};

// One column stays free: a full last column makes some terminals wrap, and the line could not be redrawn.
Screen screen(std::FILE* out) {
  winsize size{};
  const bool known = ::ioctl(::fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 1 && size.ws_row > 1;
  return known ? Screen{size_t(size.ws_col) - 1, size.ws_row} : Screen{79, 24};
}

const std::string& cell(const std::vector<std::string>& row, size_t column) {
  static const std::string empty;
  return column < row.size() ? row[column] : empty;
}

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  for (size_t at; (at = text.find(from)) != text.npos; text.remove_prefix(at + from.size())) result.append(text.substr(0, at)).append(to);
  return result.append(text);
}

std::string csv_cell(const std::string& text) {
  return text.find_first_of(",\"\r\n") == text.npos ? text : '"' + replace_all(text, "\"", "\"\"") + '"';
}

std::vector<std::string> titles(const std::vector<Table::Column>& columns) {
  std::vector<std::string> row;
  for (const Table::Column& c : columns) row.push_back(c.title);
  return row;
}

}  // namespace

std::string elide(const std::string& text, size_t columns) {
  if (width(text) <= columns) return text;
  size_t used = 0, end = 0;
  while (end < text.size()) {
    const CodePoint c = first_code_point(std::string_view(text).substr(end));
    used += size_t(columns_of(c.value));
    if (used + 1 > columns) break;
    end += c.bytes;
  }
  return text.substr(0, end) + "…";
}

bool is_terminal(std::FILE* stream) { return ::isatty(::fileno(stream)) == 1; }

bool use_color(std::FILE* stream) {
  const char* forbidden = std::getenv("NO_COLOR");  // no-color.org: any non-empty value
  const char* terminal = std::getenv("TERM");
  return is_terminal(stream) && !(forbidden && *forbidden) && std::string_view(terminal ? terminal : "dumb") != "dumb";
}

std::string Table::text() const {
  std::vector<size_t> widths;
  for (const Column& c : columns_) widths.push_back(width(c.title));
  for (const auto& row : rows_)
    for (size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], width(cell(row, i)));

  std::string text;
  const auto add_line = [&](const auto& cell_of) {
    std::string line;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const std::string content = cell_of(i);
      const std::string space(widths[i] - width(content), ' ');
      if (i > 0) line += "  ";
      line += columns_[i].right ? space + content : content + space;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  };
  add_line([&](size_t i) { return columns_[i].title; });
  add_line([&](size_t i) { return replace_all(std::string(widths[i], '-'), "-", "─"); });
  for (const auto& row : rows_) add_line([&](size_t i) { return cell(row, i); });
  return text;
}

std::string Table::markdown() const {
  std::string text;
  const auto add_line = [&](const std::vector<std::string>& row) {
    text += '|';
    for (size_t i = 0; i < columns_.size(); ++i)
      text += fmt::format(" {} |", replace_all(replace_all(cell(row, i), "|", "\\|"), "\n", "<br>"));
    text += '\n';
  };
  add_line(titles(columns_));
  std::vector<std::string> alignment;
  for (const Column& c : columns_) alignment.push_back(c.right ? "---:" : "---");
  add_line(alignment);
  for (const auto& row : rows_) add_line(row);
  return text;
}

std::string Table::csv() const {
  std::string text;
  const auto add_line = [&](const std::vector<std::string>& row) {
    for (size_t i = 0; i < columns_.size(); ++i) text.append(i > 0 ? "," : "").append(csv_cell(cell(row, i)));
    text += '\n';
  };
  add_line(titles(columns_));
  for (const auto& row : rows_) add_line(row);
  return text;
}

StatusLine::StatusLine(std::FILE* out, bool quiet) : out_(out), quiet_(quiet), terminal_(is_terminal(out)) {}

StatusLine::~StatusLine() { clear(); }

void StatusLine::update(const std::string& text) {
  const double now = steady_clock().now();
  if (quiet_ || now - last_ < (terminal_ ? 0.1 : 10)) return;
  last_ = now;
  if (!terminal_) {
    fmt::print(out_, "{}\n", text);
  } else {
    fmt::print(out_, "\r{}\x1b[K", elide(text, screen(out_).columns));
    shown_ = true;
  }
  std::fflush(out_);
}

void StatusLine::message(const std::string& text) {
  clear();
  fmt::print(out_, "{}\n", text);
  std::fflush(out_);
}

void StatusLine::clear() {
  if (shown_) fmt::print(out_, "\r\x1b[K");
  shown_ = false;
  std::fflush(out_);
}

Block::Block(std::FILE* out) : out_(out), terminal_(is_terminal(out)) {
  const char* kind = std::getenv("TERM");
  if (std::string_view(kind ? kind : "dumb") == "dumb") terminal_ = false;  // it cannot move its cursor
}

Block::~Block() { clear(); }

size_t Block::rows() const { return screen(out_).rows - 1; }

void Block::draw(const std::vector<std::string>& lines, bool now, const std::function<std::string(const std::string&)>& paint) {
  const double time = steady_clock().now();
  if (!terminal_ || (!now && time - last_ < 0.1)) return;
  last_ = time;
  std::string text = shown_ ? fmt::format("\r\x1b[{}A", shown_) : "\r";
  for (const std::string& line : lines) {
    const std::string fits = elide(line, screen(out_).columns);
    text += (paint ? paint(fits) : fits) + "\x1b[K\n";
  }
  text += "\x1b[J";  // what a longer block left below
  fmt::print(out_, "{}", text);
  std::fflush(out_);
  shown_ = lines.size();
}

void Block::message(const std::string& text) {
  clear();
  fmt::print(out_, "{}\n", text);
  std::fflush(out_);
}

void Block::clear() {
  if (shown_) fmt::print(out_, "\r\x1b[{}A\x1b[J", shown_);
  shown_ = 0;
  std::fflush(out_);
}

}  // namespace erg
