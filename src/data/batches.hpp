// Where training batches come from: synthetic, token files or JPEG folders, made ahead on prefetch threads.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace erg {

// One micro-batch on the host. GPT: tokens and targets [batch, sequence]. Images: pixels fp32 NCHW normalised, labels [batch].
struct HostBatch {
  std::vector<int32_t> tokens, targets;
  std::vector<float> pixels;
};

enum class Split { train, validation };

class Batches {
 public:
  virtual ~Batches() = default;
  // The next micro-batch of that split; stays valid until the next call for the same split. Blocks when it is not ready.
  virtual const HostBatch& next(Split split) = 0;
  virtual std::string describe() const = 0;  // "synthetic Markov tokens, seed 1"
  virtual bool real() const = 0;             // read from files
};

struct TextShape {
  int64_t batch, sequence, vocabulary;
};
struct ImageShape {
  int64_t batch, size, classes;
};

// Learnable synthetic data (METHOD §2): Markov tokens; class patterns plus noise. Loss falls when trained on them.
std::unique_ptr<Batches> synthetic_tokens(const TextShape&, uint64_t seed);
std::unique_ptr<Batches> synthetic_images(const ImageShape&, uint64_t seed);
// The check phase's and PyTorch references' fixed batch: the same every time, by formula (tools/make_reference.py has it too).
// tokens[i] = random_bits(seed, 1000, i) % vocabulary over batch*(sequence+1) in rows; targets are the tokens shifted by one.
// pixels[i] = 2u - 1 with u = random_uniform(seed, 1001, i), NCHW order; label[n] = random_bits(seed, 1002, n) % classes.
std::unique_ptr<Batches> fixed_tokens(const TextShape&, uint64_t seed);
std::unique_ptr<Batches> fixed_images(const ImageShape&, uint64_t seed);

// A folder made by `ergometer data tokens`: train.bin, val.bin, tokenizer.model, data.json. Throws Error(usage).
std::unique_ptr<Batches> token_files(const std::string& folder, const TextShape&, uint64_t seed);
int64_t token_vocabulary(const std::string& folder);  // of its tokenizer
// A folder per class of JPEGs, or train/ and val/ with such folders; without val/ every tenth image is held back.
std::unique_ptr<Batches> image_folder(const std::string& folder, const ImageShape&, uint64_t seed, int workers);
int64_t image_classes(const std::string& folder);

}  // namespace erg
