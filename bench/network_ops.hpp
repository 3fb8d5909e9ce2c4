// The ops of a network, each distinct descriptor once, as the benches time them.
#pragma once
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "model/network.hpp"
#include "spec/spec.hpp"

namespace erg::bench {

struct CountedOp {
  OpDesc desc;
  int64_t count = 0;  // how often the network has it
};
std::vector<CountedOp> distinct_ops(const std::vector<OpDesc>& ops);
std::vector<OpDesc> ops_of(const Network& network);
// The convolutions of a bottleneck; any other op is its own only part.
std::vector<OpDesc> parts_of(const OpDesc& desc);

// The type of activations that `spec` trains in on this engine: automatic is bf16 where the engine has it. Throws Error(unavailable).
DType activations_of(const Spec& spec, const Engine& engine);

}  // namespace erg::bench
