// Token files in llm.c's format, so that both programs can train on the same file: a header of 256 int32 (magic, version, count), then
// the tokens. Vocabularies up to 65536 use magic 20240520, version 1, uint16; larger ones its Llama 3 variant: 20240801, 7, uint32.
// The count is 64 bits: words 2 (low, as llm.c reads it) and 3 (high; 0 in its files, which stay below 2^31 tokens). Little endian.
#pragma once
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>

namespace erg {

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

// A token file mapped into memory: opening costs nothing, whatever its size.
class TokenFile {
 public:
  explicit TokenFile(std::string path);  // throws Error(usage) when magic, version or size are wrong
  ~TokenFile();
  TokenFile(const TokenFile&) = delete;
  TokenFile& operator=(const TokenFile&) = delete;

  const std::string& path() const { return path_; }
  int64_t size() const { return count_; }
  int32_t operator[](int64_t i) const {
    return wide_ ? int32_t(static_cast<const uint32_t*>(tokens_)[i]) : static_cast<const uint16_t*>(tokens_)[i];
  }

 private:
  std::string path_;
  void* map_ = nullptr;
  size_t bytes_ = 0;
  const void* tokens_ = nullptr;
  int64_t count_ = 0;
  bool wide_ = false;
};

}  // namespace erg
