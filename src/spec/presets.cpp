// Shapes of the presets and their sources. Vocabularies are as the tokenizer has them; the padded one follows.
#include "spec/presets.hpp"

namespace erg {

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all = {
      // He et al. 2016, table 1, with the stride in the 3x3 convolution (v1.5): the defaults of ResNetShape.
      {"resnet50", "kind = 'resnet50'"},
      // The same code in milliseconds: for tests.
      {"resnet-tiny", "kind = 'resnet50'\nwidth = 16\nblocks = [1, 1, 1, 1]\nimage_size = 32\nclasses = 10"},
      {"gpt-tiny",
       "kind = 'gpt'\nlayers = 2\nhidden = 64\nheads = 4\nvocabulary = 256\nsequence = 32\nlearning_rate = 3e-3\nwarmup_steps = 5"},
      // GPT-2's and GPT-3's smallest (Radford et al. 2019, table 2; Brown et al. 2020, table 2.1). Learning rates: Brown's table 2.1.
      {"gpt-117m", "kind = 'gpt'\nlayers = 12\nhidden = 768\nheads = 12\nvocabulary = 50257\nsequence = 1024\nlearning_rate = 6e-4"},
      // CARAML's three sizes (FZJ-JSC/CARAML, llm_training/llm_benchmark_nvidia_amd.yaml, 800M with 16 heads).
      {"gpt-800m", "kind = 'gpt'\nlayers = 16\nhidden = 2048\nheads = 16\nvocabulary = 50257\nsequence = 2048\nlearning_rate = 2.5e-4"},
      {"gpt-13b", "kind = 'gpt'\nlayers = 40\nhidden = 5120\nheads = 32\nvocabulary = 50257\nsequence = 2048\nlearning_rate = 1e-4"},
      // 13.6e9 parameters are published without a shape. This one is ASSUMED: gpt-13b's width with heads of 128 and the number of
      // layers that comes nearest (13.48e9), even, so that two pipeline stages get the same.
      {"gpt-13.6b", "kind = 'gpt'\nlayers = 42\nhidden = 5120\nheads = 40\nvocabulary = 50257\nsequence = 2048\nlearning_rate = 1e-4"},
      {"gpt-175b", "kind = 'gpt'\nlayers = 96\nhidden = 12288\nheads = 96\nvocabulary = 50257\nsequence = 2048\nlearning_rate = 6e-5"},
  };
  return all;
}

// GPT: AdamW as GPT-3 (Brown et al. 2020, appendix B). ResNet: momentum 0.9 as Goyal et al. 2017, label smoothing and a learning rate that
// follows the batch (settings.cpp) as NVIDIA's DeepLearningExamples RN50v1.5. Their warm-ups last thousands of steps; a benchmark run has
// 10 to 100, so ours are just long enough that Adam's first estimates and untrained batch norms do no harm, and the loss falls within the
// run.
const char* kind_defaults(WorkloadKind kind) {
  switch (kind) {
    case WorkloadKind::gpt:
      return "learning_rate = 6e-4\nweight_decay = 0.1\ntotal_steps = 2000\nbeta1 = 0.9\nbeta2 = 0.95\nepsilon = 1e-8\nclip = "
             "1.0\nwarmup_steps = 10";
    case WorkloadKind::resnet50: return "momentum = 0.9\nweight_decay = 5e-5\nlabel_smoothing = 0.1\nwarmup_steps = 5";
    case WorkloadKind::external: return "";
  }
  return "";
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const Preset& p : presets()) names.push_back(p.name);
  return names;
}

}  // namespace erg
