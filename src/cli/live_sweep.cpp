// What the block says is decided by live_lines, how it gets on the terminal by Block.
#include "cli/live_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/units.hpp"
#include "report/words.hpp"
#include "store/metrics.hpp"

namespace erg {
namespace {

std::string host_of(const Record& r) {
  const bool known = r.process.is_object() && r.process.contains("host") && r.process.contains("pid");
  return known ? fmt::format("process {} on {}", r.process.at("pid").dump(), field_text(r.process, "host")) : "another process";
}

std::string line_of(const LiveCell& cell, size_t number, size_t total) {
  const size_t digits = std::to_string(total).size();
  return fmt::format("{:>{}}/{} {}{}{}{}{}", number, digits, total, cell.title, cell.status.empty() ? "" : ": ", cell.status,
                     cell.text.empty() ? "" : ", ", cell.text);
}

// The status between ": " and the next comma in its colour.
std::string painted(const std::string& line) {
  for (const auto& [status, color] : {std::pair{": PASSED", 32},
                                      {": running", 36},
                                      {": SKIPPED", 33},
                                      {": INTERRUPTED", 33},
                                      {": INVALID", 31},
                                      {": FAILED", 31},
                                      {": OOM", 31},
                                      {": TIMEOUT", 31}})
    if (const size_t at = line.find(status); at != line.npos) {
      const size_t begin = at + 2, length = std::string_view(status).size() - 2;
      return fmt::format("{}\x1b[{}m{}\x1b[0m{}", line.substr(0, begin), color, line.substr(begin, length), line.substr(begin + length));
    }
  return line;
}

}  // namespace

std::vector<std::string> live_lines(const LiveState& state, size_t rows) {
  const size_t total = state.cells.size();
  rows = std::max<size_t>(rows, 4);
  size_t shown = std::min(total, rows - 1), first = 0;  // one row is the last line's
  if (shown < total) {
    shown = rows - 3;  // and two count what is not shown
    first = std::min(state.current - std::min(state.current, shown - 1), total - shown);
  }
  std::vector<std::string> lines;
  if (shown < total) lines.push_back(fmt::format("… {} before", first));
  for (size_t i = first; i < first + shown; ++i) lines.push_back(line_of(state.cells[i], i + 1, total));
  if (shown < total) lines.push_back(fmt::format("… {} after", total - first - shown));
  lines.push_back(state.last_line);
  return lines;
}

std::string result_text(const Record& r) {
  std::string text = one_line(r.status_reason);
  const std::string rate = rate_name(r);
  if (const auto m = r.metrics.find(rate); m != r.metrics.end() && m->second.value)
    text += fmt::format("{}{} {}/s{}{}", text.empty() ? "" : ", ", significant(*m->second.value), rate.substr(0, rate.find('_')),
                        m->second.ci95 ? " " : "", interval_text(m->second));
  for (const Flag& f : r.flags) text += (text.empty() ? "" : ", ") + f.code;
  return text;
}

LiveSweep::LiveSweep(std::FILE* out) : block_(out), line_(out, block_.terminal()) {
  if (use_color(out)) paint_ = painted;
}

void LiveSweep::begin(const std::vector<std::string>& titles) {
  for (const std::string& title : titles) state_.cells.push_back({title, "", ""});
}

std::string LiveSweep::place(size_t i) const { return fmt::format("{}/{} {}", i + 1, state_.cells.size(), state_.cells[i].title); }

void LiveSweep::finished(size_t i, const Record& r, bool before) {
  state_.cells[i].status = name_of(r.status);
  state_.cells[i].text = result_text(r);
  if (before) return;
  if (!block_.terminal())
    line_.message(fmt::format("{}: {}{}{}", place(i), name_of(r.status), state_.cells[i].text.empty() ? "" : ", ", state_.cells[i].text));
  draw(true);
}

void LiveSweep::elsewhere(size_t i, const Record& r) {
  state_.cells[i].status = name_of(r.status);
  state_.cells[i].text = r.status == Status::running ? host_of(r) : result_text(r);
  if (r.status == Status::running)
    message(fmt::format("{}: {} is running it; measurements beside each other on one machine disturb each other", place(i), host_of(r)));
}

void LiveSweep::running(size_t i, const ChildProgress& p, double left_s) {
  const std::string phase = p.detail.empty() ? p.phase : p.phase + ", " + p.detail;
  state_.current = i;
  state_.cells[i].status = "running";
  state_.cells[i].text = phase;
  state_.last_line = time_left(left_s);
  line_.update(fmt::format("{}, {}: {}", place(i), time_left(left_s), phase));
  draw(false);
}

void LiveSweep::message(const std::string& line) {
  if (block_.terminal())
    block_.message(line);
  else
    line_.message(line);
}

void LiveSweep::clear() { block_.clear(); }

void LiveSweep::draw(bool now) {
  if (block_.terminal()) block_.draw(live_lines(state_, block_.rows()), now, paint_);
}

}  // namespace erg
