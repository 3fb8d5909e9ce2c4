#include "network_ops.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace erg::bench {

std::vector<CountedOp> distinct_ops(const std::vector<OpDesc>& ops) {
  std::vector<CountedOp> distinct;
  for (const OpDesc& desc : ops) {
    const auto same = [&](const CountedOp& o) { return describe(o.desc) == describe(desc); };
    const auto found = std::find_if(distinct.begin(), distinct.end(), same);
    if (found == distinct.end())
      distinct.push_back({desc, 1});
    else
      ++found->count;
  }
  return distinct;
}

std::vector<OpDesc> ops_of(const Network& network) {
  std::vector<OpDesc> ops;
  for (const NamedOp& op : network.ops) ops.push_back(op.desc);
  return ops;
}

std::vector<OpDesc> parts_of(const OpDesc& desc) {
  const auto* b = std::get_if<BottleneckDesc>(&desc);
  if (!b) return {desc};
  std::vector<OpDesc> parts{b->reduce(), b->spatial(), b->expand()};
  if (b->projection) parts.push_back(b->project());
  return parts;
}

DType activations_of(const Spec& spec, const Engine& engine) {
  const Precision wanted = spec.workload.precision;
  const EngineInfo info = engine.info();
  const bool bf16 = wanted == Precision::bf16 || (wanted == Precision::automatic && info.native_bf16);
  const DType dtype = bf16 ? DType::bf16 : DType::f32;
  const bool known = bf16 || wanted == Precision::fp32 || wanted == Precision::automatic;
  if (!known || !engine.supports(dtype))
    throw Error(ErrorKind::unavailable, std::string(name_of(wanted)) + " cannot be timed on " + info.device, "workload.precision",
                "use fp32");
  return dtype;
}

}  // namespace erg::bench
