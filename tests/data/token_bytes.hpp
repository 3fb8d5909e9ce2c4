// Token files of other programs, byte by byte.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace erg {

template <class T>
std::string raw(T value) {
  std::string bytes(sizeof value, 0);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

template <class T>
std::string raw_array(const std::vector<int64_t>& values) {
  std::string bytes;
  for (const int64_t v : values) bytes += raw(static_cast<T>(v));
  return bytes;
}

// Megatron's .idx as its IndexedDataset writer lays it out (reference: megatron/core/datasets/indexed_dataset.py, _IndexWriter).
struct MegatronIndex {
  std::string magic = std::string("MMIDIDX\0\0", 9);
  uint64_t version = 1;
  uint8_t type = 8;
  std::vector<int64_t> lengths, offsets, documents;
  std::string rest;  // modes
  uint64_t sequence_count, document_count;

  // `size`: bytes a token. Offsets as Megatron writes them, each sequence a document.
  MegatronIndex(uint8_t code, int64_t size, std::vector<int64_t> sequence_lengths) : type(code), lengths(std::move(sequence_lengths)) {
    int64_t at = 0;
    documents = {0};
    for (size_t i = 0; i < lengths.size(); ++i) {
      offsets.push_back(at);
      at += lengths[i] * size;
      documents.push_back(int64_t(i) + 1);
    }
    sequence_count = lengths.size();
    document_count = documents.size();
  }
  std::string bytes() const {
    return magic + raw(version) + raw(type) + raw(sequence_count) + raw(document_count) + raw_array<int32_t>(lengths) +
           raw_array<int64_t>(offsets) + raw_array<int64_t>(documents) + rest;
  }
};

inline std::string llmc_bytes(const std::vector<int64_t>& tokens, bool wide = false) {
  std::vector<int64_t> header{wide ? 20240801 : 20240520, wide ? 7 : 1, int64_t(tokens.size())};
  header.resize(256);
  return raw_array<uint32_t>(header) + (wide ? raw_array<uint32_t>(tokens) : raw_array<uint16_t>(tokens));
}

inline std::vector<int64_t> counting(int64_t from, int64_t count) {
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < count; ++i) ids.push_back(from + i);
  return ids;
}

}  // namespace erg
