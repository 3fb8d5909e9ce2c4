// What a run should cost before it starts: FLOPs, memory, and, where the device is known, peak and time. Pure arithmetic.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "model/network.hpp"
#include "spec/spec.hpp"

namespace erg {

struct Mesh {
  int64_t dp = 1, tp = 1, pp = 1;
};

struct MemoryPlan {
  double state_bytes = 0;       // weights, gradients, optimizer state (METHOD §4)
  double activation_bytes = 0;  // saved for backward, plus the gradients in flight
  double workspace_bytes = 0;   // input buffers, chunks of logits, scratch
  double total_bytes() const { return state_bytes + activation_bytes + workspace_bytes; }
};

struct Plan {
  Network network;  // of one micro-batch on one device
  Mesh mesh;
  DType dtype = DType::f32;                   // of activations
  int64_t micro_batch = 0, accumulation = 0;  // global batch = dp * micro_batch * accumulation
  int64_t samples_per_step = 0;               // images or tokens
  double flops_per_step = 0;                  // model FLOPs of a whole step, in `flops_convention`
  std::string flops_convention;               // "causal" for GPT, "conv+fc, no first input gradient" for ResNet
  MemoryPlan memory;
  std::optional<double> peak_flops;  // declared dense peak of the device in this precision, FLOP/s
  std::string peak_source;           // or why there is none
};

// A device file (devices/NAME.toml): peaks per dtype, memory, links, power, each with its source.
struct DeviceFile {
  std::string name, vendor;
  std::map<std::string, double> peak_tflops;  // "fp32" -> 19.5
  std::optional<double> memory_gb, memory_gbs, power_w;
  std::string source;
  std::vector<std::string> match;  // substrings of the device name that the environment reports
};
std::vector<DeviceFile> load_devices(const std::string& folder);
std::string devices_folder();  // beside the binary, in the source tree, or $ERGOMETER_DEVICES

// `native_bf16` resolves precision "auto"; `device_name` is looked up in devices/ ("unavailable" is no error: no MFU then).
// `device_share` is this run's part of that device, such as 2 of a 96-core socket's cores. Throws Error(usage) for layouts not yet built.
Plan make_plan(const Spec& spec, bool native_bf16, const std::string& device_name = {}, double device_share = 1);

}  // namespace erg
