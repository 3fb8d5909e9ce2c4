// A sweep as a person sees it. On a terminal one block is redrawn in place: finished points with their results, the running one with its
// phase, time left; elsewhere a line for every point that ends, and now and then one for the running one.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "core/terminal.hpp"
#include "run/sweep.hpp"

namespace erg {

struct LiveCell {
  std::string title, status, text;  // status: a record's, "running", or "" for one that waits; text: its result or phase
};
struct LiveState {
  std::vector<LiveCell> cells;
  size_t current = 0;  // where the block must look when it cannot show all
  std::string last_line;
};
// The block's lines, at most `rows` of them: points before and after those that are shown are counted. Not cut to a width, not coloured.
std::vector<std::string> live_lines(const LiveState& state, size_t rows);

std::string result_text(const Record& record);  // "1203 tokens/s ± 0.5 %, not_settled", or the reason of a failure

class LiveSweep final : public SweepWatcher {
 public:
  explicit LiveSweep(std::FILE* out = stderr);
  void begin(const std::vector<std::string>& titles) override;
  void finished(size_t point, const Record& record, bool before) override;
  void elsewhere(size_t point, const Record& record) override;
  void running(size_t point, const ChildProgress& progress, double left_s) override;
  void message(const std::string& line) override;
  void clear();

 private:
  void draw(bool now);
  std::string place(size_t point) const;  // "3/12 gpt-tiny global_batch=4"

  Block block_;
  StatusLine line_;  // where there is no terminal
  LiveState state_;
  std::function<std::string(const std::string&)> paint_;  // empty: no colours
};

}  // namespace erg
