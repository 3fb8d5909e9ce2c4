// Token files written and read.
#include "data/token_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "core/error.hpp"

namespace erg {
namespace {

using Header = std::array<uint32_t, 256>;

// Checked before it is narrowed: an int64 id may be anything.
template <class T>
void read_as(const InputFile& file, const TokenLayout& layout, int64_t begin, std::span<int32_t> out, int64_t vocabulary) {
  std::array<T, 16384 / sizeof(T)> piece;
  for (size_t at = 0; at < out.size(); at += piece.size()) {
    const size_t count = std::min(piece.size(), out.size() - at);
    const int64_t first = begin + int64_t(at);
    file.read(layout.offset + first * int64_t(sizeof(T)), piece.data(), count * sizeof(T));
    for (size_t i = 0; i < count; ++i) {
      const auto id = int64_t(piece[i]);
      if (id < 0 || id >= vocabulary)
        throw Error(ErrorKind::usage,
                    fmt::format("token {} at position {} is outside the vocabulary of {}", id, first + int64_t(i), vocabulary), file.path(),
                    "set workload.vocabulary to that of the tokenizer the file was made with, or make the file again");
      out[at + i] = int32_t(id);
    }
  }
}

}  // namespace

TokenWriter::TokenWriter(std::string path, int64_t vocabulary)
    : path_(std::move(path)), aside_(path_ + ".part"), wide_(vocabulary > 65536), file_(std::fopen(aside_.c_str(), "wb")) {
  if (!file_) throw Error(ErrorKind::failed, fmt::format("cannot write: {}", std::strerror(errno)), aside_);
  write_header();
}

TokenWriter::~TokenWriter() {
  if (file_) std::remove(aside_.c_str());
}

void TokenWriter::write(const void* data, size_t bytes) {
  if (std::fwrite(data, 1, bytes, file_.get()) != bytes)
    throw Error(ErrorKind::failed, fmt::format("cannot write: {}", std::strerror(errno)), aside_, "is the disk full?");
}

void TokenWriter::write_header() {
  const Header header{wide_ ? 20240801u : 20240520u, wide_ ? 7u : 1u, uint32_t(count_), uint32_t(uint64_t(count_) >> 32)};
  write(header.data(), sizeof header);
}

void TokenWriter::append(std::span<const int> tokens) {
  if (wide_) {
    write(tokens.data(), tokens.size_bytes());
  } else {
    const std::vector<uint16_t> narrow(tokens.begin(), tokens.end());
    write(narrow.data(), narrow.size() * sizeof(uint16_t));
  }
  count_ += int64_t(tokens.size());
}

void TokenWriter::finish() {
  std::rewind(file_.get());
  write_header();
  const bool safe = std::fflush(file_.get()) == 0 && fsync(fileno(file_.get())) == 0 && std::rename(aside_.c_str(), path_.c_str()) == 0;
  if (!safe) throw Error(ErrorKind::failed, fmt::format("cannot write: {}", std::strerror(errno)), path_, "is the disk full?");
  file_.reset();
}

TokenFile::TokenFile(const std::string& path)
    : file_(path), layout_([&] {
        const std::filesystem::path index = std::filesystem::path(path).replace_extension(".idx");
        std::error_code ignored;
        const bool megatron = path.ends_with(".bin") && std::filesystem::exists(index, ignored);
        return megatron ? read_megatron_index(InputFile(index), file_.bytes()) : read_llmc_header(file_);
      }()) {}

void TokenFile::read(int64_t begin, std::span<int32_t> out, int64_t vocabulary) const {
  switch (layout_.type) {
    case TokenType::u8: return read_as<uint8_t>(file_, layout_, begin, out, vocabulary);
    case TokenType::i8: return read_as<int8_t>(file_, layout_, begin, out, vocabulary);
    case TokenType::i16: return read_as<int16_t>(file_, layout_, begin, out, vocabulary);
    case TokenType::u16: return read_as<uint16_t>(file_, layout_, begin, out, vocabulary);
    case TokenType::i32: return read_as<int32_t>(file_, layout_, begin, out, vocabulary);
    case TokenType::u32: return read_as<uint32_t>(file_, layout_, begin, out, vocabulary);
    case TokenType::i64: return read_as<int64_t>(file_, layout_, begin, out, vocabulary);
  }
}

}  // namespace erg
