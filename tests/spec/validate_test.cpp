// Contradictions between values, and what can be planned but not yet run: each names the key at fault.
#include "spec_file.hpp"

namespace erg {
namespace {

struct Contradiction {
  const char* key;
  void (*change)(Spec&);
};

Spec large_gpt() {
  Spec s = load_spec({"gpt-175b", {}, {}, {}});
  s.devices = 128;
  s.workload.global_batch = 128;
  s.workload.micro_batch = 2;
  s.layout = {.tp = 8, .pp = 8, .zero = 1, .interleave = 3, .sequence_parallel = true, .recompute = Recompute::selective};
  return s;
}

TEST(Validate, ALargeLayoutIsConsistent) { EXPECT_NO_THROW(validate(large_gpt())); }

TEST(Validate, Contradictions) {
  const Contradiction cases[] = {
      {"devices", [](Spec& s) { s.layout.tp = 3; }},
      {"workload.global_batch", [](Spec& s) { s.workload.global_batch = 127; }},
      {"workload.global_batch", [](Spec& s) { s.workload.micro_batch = 3; }},
      {"workload.heads", [](Spec& s) { s.workload.gpt.heads = 95; }},
      {"workload.positions", [](Spec& s) { s.workload.gpt.positions = Positions::rope, s.workload.gpt.heads = 4096; }},
      {"workload.vocabulary", [](Spec& s) { s.workload.gpt.padded_vocabulary = 50000; }},
      {"layout.tp", [](Spec& s) { s.workload.gpt.ffn = 12289; }},
      {"layout.pp", [](Spec& s) { s.workload.gpt.layers = 95; }},
      {"layout.interleave", [](Spec& s) { s.layout.tp = 64, s.layout.pp = 1, s.workload.gpt.heads = 192; }},
      {"layout.interleave", [](Spec& s) { s.workload.micro_batch = 64; }},
      {"layout.sequence_parallel", [](Spec& s) { s.workload.gpt.sequence = 2047; }},
      {"layout.sequence_parallel", [](Spec& s) { s.layout.tp = 1, s.layout.interleave = 1; }},
      {"workload.gradients", [](Spec& s) { s.workload.gradients = DType::bf16, s.workload.precision = Precision::fp32; }},
      {"workload.warmup_steps", [](Spec& s) { s.workload.optimizer.total_steps = 3; }},
      {"workload.blocks",
       [](Spec& s) {
         s = load_spec({"resnet50", {}, {}, {}}), s.workload.resnet.blocks = {3, 4};
       }},
  };
  for (const auto& [key, change] : cases) {
    Spec s = large_gpt();
    change(s);
    try {
      validate(s);
      ADD_FAILURE() << "no error at " << key;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::usage);
      EXPECT_EQ(e.where(), key) << e.what();
    }
  }
}

TEST(ValidateRunnable, NamesWhatIsMissing) {
  const Contradiction cases[] = {
      {"workload.kind", [](Spec& s) { s.workload.kind = WorkloadKind::external; }},
      {"workload.precision", [](Spec& s) { s.workload.precision = Precision::tf32; }},
      {"workload.precision", [](Spec& s) { s.workload.precision = Precision::fp16; }},
      {"devices", [](Spec& s) { s.devices = 2; }},
      {"layout.tp", [](Spec& s) { s.layout.tp = 2; }},
      {"layout.pp", [](Spec& s) { s.layout.pp = 2; }},
      {"layout.pp", [](Spec& s) { s.layout.interleave = 2; }},
      {"layout.sequence_parallel", [](Spec& s) { s.layout.sequence_parallel = true; }},
      {"layout.recompute", [](Spec& s) { s.layout.recompute = Recompute::full; }},
  };
  for (const auto& [key, change] : cases) {
    Spec s = load_spec({"gpt-tiny", {}, {}, {}});
    EXPECT_NO_THROW(validate_runnable(s));
    change(s);
    try {
      validate_runnable(s);
      ADD_FAILURE() << "no error at " << key;
    } catch (const Error& e) { EXPECT_EQ(e.where(), key) << e.what(); }
  }
}

}  // namespace
}  // namespace erg
