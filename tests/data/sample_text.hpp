// Some bilingual text to make tokens of.
#pragma once
#include <string>

#include "core/rng.hpp"

namespace erg {

// `lines` lines of words from a small set, each with its number, by formula.
inline std::string sample_text(int lines, uint64_t seed = 1) {
  static const char* const words[] = {"the",      "house", "straße", "über",    "and",   "und",
                                      "training", "größe", "a",      "measure", "Wärme", "energy"};
  std::string text;
  uint64_t draw = 0;
  for (int line = 0; line < lines; ++line) {
    text += std::to_string(line);
    for (int word = 0; word < 8; ++word) text += std::string(" ") + words[random_bits(seed, 0, draw++) % std::size(words)];
    text += line % 10 == 9 ? "  \n\n" : "\n";
  }
  return text;
}

}  // namespace erg
