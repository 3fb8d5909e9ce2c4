// One file of token ids, whatever its format (token_format.hpp), and the writer of our own, which is llm.c's.
#pragma once
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>

#include "data/token_format.hpp"

namespace erg {

// Vocabularies up to 65536 are written as uint16, larger ones as llm.c's Llama 3 variant, uint32.
// Written beside its name and renamed by finish(), so that a token file is whole or not there. Throws Error(failed).
class TokenWriter {
 public:
  TokenWriter(std::string path, int64_t vocabulary);
  ~TokenWriter();
  void append(std::span<const int> tokens);
  void finish();
  int64_t count() const { return count_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  void write(const void* data, size_t bytes);
  void write_header();

  std::string path_, aside_;
  bool wide_;
  int64_t count_ = 0;
  std::unique_ptr<std::FILE, Close> file_;
};

// An open token file; nothing of it is held in memory.
class TokenFile {
 public:
  // PATH.bin beside a PATH.idx is Megatron's, else llm.c's. Throws Error(usage) when header, index or size are wrong.
  explicit TokenFile(const std::string& path);

  const std::string& path() const { return file_.path(); }
  const TokenLayout& layout() const { return layout_; }
  int64_t size() const { return layout_.count; }

  // The tokens from `begin` on. Throws Error(usage) naming file, position and id when one is not in [0, vocabulary), and when the file
  // became shorter. Allocates nothing.
  void read(int64_t begin, std::span<int32_t> out, int64_t vocabulary) const;

 private:
  InputFile file_;
  TokenLayout layout_;
};

}  // namespace erg
