// Text as it comes from people: plain or gzip, checked to be UTF-8, cut into pieces that a tokenizer takes one by one.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace erg {

// The whole text of a file; gzip is seen by its content, not by its name. Throws Error(usage) when it cannot be read, is empty or blank, or
// is not UTF-8, then with the byte offset in the (unpacked) text.
std::string read_text(const std::string& path);

// Offset of the first byte that does not belong to well-formed UTF-8 (Unicode 15, table 3-7), or nothing.
std::optional<size_t> find_invalid_utf8(std::string_view text);

// Where the piece that begins at `begin` ends: after its newline, or earlier so that it has at most 4096 bytes, never inside a character.
size_t end_of_piece(std::string_view text, size_t begin);

// FNV-1a, 64 bits (Fowler, Noll, Vo 1991): tells whether a source is still the same, no protection against intent.
uint64_t fnv1a(std::string_view bytes);

}  // namespace erg
