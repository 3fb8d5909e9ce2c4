// Where a step's time goes. Whoever does a piece of work holds a Span while it lasts; the spans of an op's pieces lie inside the op's own.
// Without a trace a span costs one test of a pointer.
#pragma once
#include <string_view>

#include "model/work.hpp"

namespace erg {

class Trace {
 public:
  virtual ~Trace() = default;
  // site: the op's name in the network, "h.3.qkv"; empty for a piece inside an op. Both must outlive the trace.
  virtual void begin(std::string_view site, const Work& work) = 0;
  virtual void end() = 0;  // of the span begun last
};

class Span {
 public:
  Span(Trace* trace, const Work& work, std::string_view site = {}) : trace_(trace) {
    if (trace_) trace_->begin(site, work);
  }
  ~Span() {
    if (trace_) trace_->end();
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  Trace* trace_;
};

}  // namespace erg
