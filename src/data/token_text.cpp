// Finding the file a token lies in.
#include "data/token_text.hpp"

#include <algorithm>

namespace erg {

TokenText::TokenText(const std::vector<std::string>& files) : starts_{0} {
  files_.reserve(files.size());
  for (const std::string& file : files) {
    files_.emplace_back(file);
    starts_.push_back(starts_.back() + files_.back().size());
  }
}

int64_t TokenText::documents() const {
  int64_t sum = 0;
  for (const TokenFile& file : files_) {
    if (file.layout().documents == 0) return 0;
    sum += file.layout().documents;
  }
  return sum;
}

void TokenText::read(int64_t begin, std::span<int32_t> out, int64_t vocabulary) const {
  size_t file = size_t(std::upper_bound(starts_.begin(), starts_.end(), begin) - starts_.begin()) - 1;
  for (; !out.empty(); ++file) {
    const int64_t at = begin - starts_[file], here = std::min(files_[file].size() - at, int64_t(out.size()));
    files_[file].read(at, out.first(size_t(here)), vocabulary);
    out = out.subspan(size_t(here));
    begin += here;
  }
}

}  // namespace erg
