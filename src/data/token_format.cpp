// The types of tokens, and llm.c's header.
#include "data/token_format.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>

#include "core/error.hpp"

namespace erg {

static_assert(std::endian::native == std::endian::little, "token files are read as they lie on disk");

int64_t bytes_of(TokenType type) {
  switch (type) {
    case TokenType::u8:
    case TokenType::i8: return 1;
    case TokenType::i16:
    case TokenType::u16: return 2;
    case TokenType::i32:
    case TokenType::u32: return 4;
    case TokenType::i64: return 8;
  }
  return 0;
}

const char* name_of(TokenType type) {
  switch (type) {
    case TokenType::u8: return "uint8";
    case TokenType::i8: return "int8";
    case TokenType::i16: return "int16";
    case TokenType::i32: return "int32";
    case TokenType::i64: return "int64";
    case TokenType::u16: return "uint16";
    case TokenType::u32: return "uint32";
  }
  return "?";
}

TokenLayout read_llmc_header(const InputFile& file) {
  constexpr const char* kFix = "give a file that llm.c or `ergometer data tokens` wrote whole, or Megatron's .bin beside its .idx";
  std::array<uint32_t, 256> header;
  constexpr int64_t kBytes = sizeof header;
  const auto fail = [&](const std::string& why) { return Error(ErrorKind::usage, why, file.path(), kFix); };
  if (file.bytes() < kBytes) throw fail(fmt::format("{} bytes are too few for a token file's header", file.bytes()));
  file.read(0, header.data(), kBytes);
  const bool narrow = header[0] == 20240520 && header[1] == 1, wide = header[0] == 20240801 && header[1] == 7;
  if (!narrow && !wide) throw fail(fmt::format("not a token file: magic {} version {}", header[0], header[1]));
  TokenLayout layout{wide ? TokenType::u32 : TokenType::u16, kBytes, 0};
  const uint64_t count = header[2] | uint64_t(header[3]) << 32;
  const int64_t size = bytes_of(layout.type), held = (file.bytes() - kBytes) / size;
  const int64_t rest = (file.bytes() - kBytes) % size;
  if (count != uint64_t(held) || rest != 0)
    throw fail(fmt::format("the header says {} tokens, the file holds {}{}", count, held,
                           rest ? fmt::format(" and {} more byte{}", rest, rest == 1 ? "" : "s") : ""));
  layout.count = held;
  return layout;
}

}  // namespace erg
