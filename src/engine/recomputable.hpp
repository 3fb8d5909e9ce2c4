// What an op may offer beside engine/op.hpp: making its outputs again, so that a workload may let the outputs of many such ops share
// memory. Ask with dynamic_cast; an op that does not offer it needs outputs of its own.
#pragma once
#include "engine/op.hpp"

namespace erg {

// Linear layers with an activation are: they keep what went into it.
class Recomputable {
 public:
  virtual ~Recomputable() = default;
  // After forward in Mode::train: writes what that wrote to `out`, bit for bit. Before this op's backward, and before that of any op that
  // reads these outputs.
  virtual void recompute(Inputs out) = 0;
};

}  // namespace erg
