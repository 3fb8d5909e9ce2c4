// How token files lie on disk: llm.c's and Megatron's. Both are an array of integers; what differs is where it says of which type and how
// many. Everything is little endian and counted in 64 bits.
#pragma once
#include <cstdint>

#include "data/input_file.hpp"

namespace erg {

// The numbers are Megatron's type codes (indexed_dataset.py), u32 is llm.c's alone.
enum class TokenType : uint8_t { u8 = 1, i8 = 2, i16 = 3, i32 = 4, i64 = 5, u16 = 8, u32 = 255 };
int64_t bytes_of(TokenType type);
const char* name_of(TokenType type);  // "uint16"

struct TokenLayout {
  TokenType type;
  int64_t offset;         // of the first token, in bytes
  int64_t count;          // tokens
  int64_t documents = 0;  // 0: the file does not say
};

// llm.c: 256 int32 (magic, version, count), then the tokens. GPT-2's is 20240520, 1, uint16; Llama 3's 20240801, 7, uint32. The count has
// 64 bits here: words 2 (low, as llm.c reads it) and 3 (high; 0 in its files). Throws Error(usage) on any other content or size.
TokenLayout read_llmc_header(const InputFile& file);

// Megatron: `index` is PREFIX.idx, `bytes` the size of PREFIX.bin. Its sequences must follow each other in the .bin without gap or overlap,
// as Megatron writes them, and fill it: the tokens are then one array. Reads the whole index once, in pieces. Throws Error(usage)
// naming the sequence or document that is wrong.
TokenLayout read_megatron_index(const InputFile& index, int64_t bytes);

}  // namespace erg
