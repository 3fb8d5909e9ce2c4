// Reading text files: zlib unpacks what is packed and passes on what is not.
#include "data/text.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "core/error.hpp"

namespace erg {
namespace {

struct Closer {
  void operator()(gzFile_s* file) const { gzclose(file); }
};

// Length of the well-formed character at the start of `s`, 0 when there is none.
size_t character_length(std::string_view s) {
  const auto byte = [&](size_t i) { return i < s.size() ? uint8_t(s[i]) : uint8_t(0); };
  const auto within = [&](size_t i, uint8_t low, uint8_t high) { return byte(i) >= low && byte(i) <= high; };
  const auto tail = [&](size_t i) { return within(i, 0x80, 0xbf); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  if (within(0, 0xc2, 0xdf)) return tail(1) ? 2 : 0;
  if (within(0, 0xe0, 0xef)) {  // neither overlong (e0) nor a surrogate (ed)
    const bool second = within(1, lead == 0xe0 ? 0xa0 : 0x80, lead == 0xed ? 0x9f : 0xbf);
    return second && tail(2) ? 3 : 0;
  }
  if (within(0, 0xf0, 0xf4)) {  // neither overlong (f0) nor above U+10FFFF (f4)
    const bool second = within(1, lead == 0xf0 ? 0x90 : 0x80, lead == 0xf4 ? 0x8f : 0xbf);
    return second && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string read_text(const std::string& path) {
  const auto fail = [&](const std::string& why, const std::string& fix = {}) { return Error(ErrorKind::usage, why, path, fix); };
  struct stat status;
  if (stat(path.c_str(), &status) != 0) throw fail(fmt::format("cannot read the text: {}", std::strerror(errno)));
  if (!S_ISREG(status.st_mode)) throw fail("is not a file", "name text files, plain or .gz");
  const std::unique_ptr<gzFile_s, Closer> file(gzopen(path.c_str(), "rb"));
  if (!file) throw fail(fmt::format("cannot read the text: {}", std::strerror(errno)));

  std::string text;
  constexpr unsigned kChunk = 1 << 20;
  for (int n = kChunk; n == int(kChunk);) {
    const size_t have = text.size();
    text.resize(have + kChunk);
    n = gzread(file.get(), text.data() + have, kChunk);
    text.resize(have + size_t(std::max(n, 0)));
    int code = Z_OK;
    const char* message = gzerror(file.get(), &code);
    if (code != Z_OK) throw fail(fmt::format("cannot unpack the text: {}", message), "the .gz file is damaged or cut off");
  }
  if (text.empty()) throw fail("the file has no text");
  if (text.find_first_not_of(" \t\r\n\v\f") == text.npos) throw fail("the file has only blanks");
  if (const auto at = find_invalid_utf8(text))
    throw fail(fmt::format("not UTF-8 at byte {} (0x{:02x})", *at, uint8_t(text[*at])),
               "convert it, for example with iconv -f latin1 -t utf-8");
  return text;
}

std::optional<size_t> find_invalid_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const size_t length = character_length(text.substr(i, 4));
    if (length == 0) return i;
    i += length;
  }
  return std::nullopt;
}

size_t end_of_piece(std::string_view text, size_t begin) {
  constexpr size_t kLongest = 4096;
  const std::string_view window = text.substr(begin, kLongest);
  if (const size_t newline = window.find('\n'); newline != window.npos) return begin + newline + 1;
  size_t end = begin + window.size();
  while (end < text.size() && (uint8_t(text[end]) & 0xc0) == 0x80) --end;  // back to the start of a character
  return end;
}

uint64_t fnv1a(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (const char c : bytes) hash = (hash ^ uint8_t(c)) * 0x100000001b3ull;
  return hash;
}

}  // namespace erg
