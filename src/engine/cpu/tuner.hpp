// Chooses between ways to compute the same by measuring them, once per shape and machine: what was chosen is kept in the process and in a
// file of the user's cache folder, so that the next run starts at once and computes the same.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "engine/cpu/engine.hpp"

namespace erg {

// Memory that candidates are timed in, filled with numbers below one: bf16 and fp32 alike.
class Trial {
 public:
  Trial(CpuEngine& engine, std::initializer_list<int64_t> sizes);
  void* operator[](size_t i) const { return buffers_[i]->data(); }

 private:
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

struct Candidate {
  std::string name;                                // "jit_1x1:avx512_core"; what the file keeps
  std::function<std::function<void()>()> prepare;  // gives what is timed; called, and its memory taken, only when it is measured
};

// The index of the fastest. `what` names the computation and its shape; `flops` is its size: what takes microseconds is not measured, the
// first candidate is taken. ERGOMETER_TUNE=first or last takes that one everywhere, without measuring or files: for tests.
// The file is $XDG_CACHE_HOME/ergometer/kernels-MACHINE.tsv (~/.cache by default), a line a computation; one that cannot be read or written
// costs measuring again.
size_t choose(CpuEngine& engine, const std::string& what, double flops, const std::vector<Candidate>& candidates);

}  // namespace erg
