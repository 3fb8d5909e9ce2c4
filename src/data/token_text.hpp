// Several token files read as one text, in their order.
#pragma once
#include <string>
#include <vector>

#include "data/token_file.hpp"

namespace erg {

class TokenText {
 public:
  explicit TokenText(const std::vector<std::string>& files);  // throws Error(usage)

  int64_t size() const { return starts_.back(); }
  int64_t documents() const;  // 0: not all files say
  const std::vector<TokenFile>& files() const { return files_; }
  void read(int64_t begin, std::span<int32_t> out, int64_t vocabulary) const;  // as TokenFile::read, across the files' borders

 private:
  std::vector<TokenFile> files_;
  std::vector<int64_t> starts_;  // of each file, and the end of the last
};

}  // namespace erg
