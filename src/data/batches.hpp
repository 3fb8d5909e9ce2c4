// Where training batches come from: synthetic, token files or JPEG folders. JPEGs are decoded ahead on prefetch threads; the others cost so
// little that they are made when they are asked for.
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

// How far the training split of one source was read. `samples` over all epochs; `index` counts those of this epoch.
struct SourcePosition {
  int64_t epoch = 0, index = 0, samples = 0;
  int64_t validation = 0;  // samples of the validation split, which has no epochs
  bool operator==(const SourcePosition&) const = default;
};
// One entry a source: one, or as many as are blended. Together with spec and files it decides all batches to come, bit for bit.
using DataPosition = std::vector<SourcePosition>;

struct DataFacts {
  const char* kind;                   // "synthetic", "tokens", "images", "fixed"
  std::vector<std::string> files;     // token files, or the image folder
  int64_t train = 0, validation = 0;  // tokens or images of each split; 0: there is no end to them
};

class Batches {
 public:
  virtual ~Batches() = default;
  // The next micro-batch of that split; stays valid until the next call for the same split. Blocks when it is not ready.
  virtual const HostBatch& next(Split split) = 0;
  virtual std::string describe() const = 0;  // "synthetic Markov tokens, seed 1"
  virtual bool real() const = 0;             // read from files
  virtual DataFacts facts() const = 0;
  virtual DataPosition position() const = 0;  // after the batches that next() has given
  // The next batches are those that followed `position` then. Throws Error(usage) when these data have no such position.
  virtual void seek(const DataPosition& position) = 0;
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

// Token files as docs/data.md says: a folder made by `ergometer data tokens`, files of llm.c or Megatron, or a weighted blend of them.
// Throws Error(usage), next() also, for what is only seen when it is read.
std::unique_ptr<Batches> token_files(const std::string& data, const TextShape&, uint64_t seed);
int64_t token_vocabulary(const std::string& folder);  // of the tokenizer of a folder made by `ergometer data tokens`
// A folder per class of JPEGs, or train/ and val/ with such folders; without val/ every tenth image is held back.
std::unique_ptr<Batches> image_folder(const std::string& folder, const ImageShape&, uint64_t seed, int workers);
int64_t image_classes(const std::string& folder);

}  // namespace erg
