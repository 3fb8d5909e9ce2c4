// Megatron's PREFIX.idx (megatron/core/datasets/indexed_dataset.py): nothing in it is believed before it was checked, because every number
// decides where tokens are read.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/error.hpp"
#include "data/token_format.hpp"

namespace erg {
namespace {

constexpr int64_t kHeader = 34;  // magic 9, version 8, type 1, counts 2 x 8

// An array of the index, read in order and in pieces, so that an index of gigabytes takes no memory. Entries lie unaligned.
template <class T>
class Column {
 public:
  Column(const InputFile& file, int64_t offset, int64_t count) : file_(file), offset_(offset), left_(count) {}
  T next() {
    if (at_ == piece_.size()) {
      piece_.resize(size_t(std::min<int64_t>(left_, 8192)));
      file_.read(offset_, piece_.data(), piece_.size() * sizeof(T));
      offset_ += int64_t(piece_.size() * sizeof(T));
      left_ -= int64_t(piece_.size());
      at_ = 0;
    }
    return piece_[at_++];
  }

 private:
  const InputFile& file_;
  int64_t offset_, left_;
  std::vector<T> piece_;
  size_t at_ = 0;
};

class Reader {
 public:
  Reader(const InputFile& file, int64_t bin_bytes) : file_(file), bin_bytes_(bin_bytes) {}

  TokenLayout read() {
    read_header();
    check_sequences();
    check_documents();
    return {type_, 0, bin_bytes_ / bytes_of(type_), documents_ - 1};
  }

 private:
  Error fail(const std::string& why, const char* fix = "make the files again with Megatron's preprocess_data.py") const {
    return Error(ErrorKind::usage, why, file_.path(), fix);
  }

  void read_header() {
    char header[kHeader];
    if (file_.bytes() < kHeader) throw fail(fmt::format("{} bytes are too few for the header of an index", file_.bytes()));
    file_.read(0, header, kHeader);
    if (std::memcmp(header, "MMIDIDX\0\0", 9) != 0) throw fail("not an index: it does not begin with MMIDIDX");
    uint64_t version, sequences, documents;
    std::memcpy(&version, header + 9, 8);
    std::memcpy(&sequences, header + 18, 8);
    std::memcpy(&documents, header + 26, 8);
    if (version != 1) throw fail(fmt::format("version {} is unknown, only 1 is", version));
    set_type(uint8_t(header[17]));
    // Divided, not multiplied: the counts are any 64 bits.
    const uint64_t room = uint64_t(file_.bytes() - kHeader);
    if (sequences > room / 12 || documents > (room - sequences * 12) / 8)
      throw fail(fmt::format("{} sequences and {} document indices do not fit into {} bytes", sequences, documents, file_.bytes()));
    const uint64_t rest = room - sequences * 12 - documents * 8;  // modes, one byte a sequence, are optional
    if (rest != 0 && rest != sequences)
      throw fail(fmt::format("{} sequences and {} document indices leave {} bytes over", sequences, documents, rest));
    if (documents == 0) throw fail("has no document indices; even an index without documents has one, 0");
    sequences_ = int64_t(sequences);
    documents_ = int64_t(documents);
  }

  void set_type(uint8_t code) {
    if (code == 6 || code == 7)
      throw fail(fmt::format("holds {}: numbers, not tokens", code == 6 ? "float64" : "float32"), "give an index of integer tokens");
    type_ = TokenType(code);
    if (code != 8 && (code < 1 || code > 5)) throw fail(fmt::format("type code {} is unknown; 1 to 5 and 8 are integers", code));
  }

  void check_sequences() {
    Column<int32_t> lengths(file_, kHeader, sequences_);
    Column<int64_t> offsets(file_, kHeader + 4 * sequences_, sequences_);
    const int64_t size = bytes_of(type_);
    int64_t end = 0;
    for (int64_t i = 0; i < sequences_; ++i) {
      const int64_t length = lengths.next(), offset = offsets.next();
      if (length < 0) throw fail(fmt::format("sequence {} has the length {}", i, length));
      if (offset != end)
        throw fail(fmt::format("sequence {} begins at byte {} of the .bin, the one before ends at {}{}", i, offset, end,
                               offset % size != 0 ? fmt::format("; tokens have {} bytes", size) : ""));
      if (length > (bin_bytes_ - end) / size)
        throw fail(fmt::format("sequence {} of {} tokens at byte {} goes beyond the .bin's {} bytes", i, length, end, bin_bytes_),
                   "the .bin is cut off or not of this .idx: copy both again");
      end += length * size;
    }
    if (end != bin_bytes_)
      throw fail(fmt::format("its sequences end at byte {}, the .bin has {}", end, bin_bytes_),
                 "the .bin is longer than it should be or not of this .idx: copy both again");
  }

  void check_documents() {
    Column<int64_t> indices(file_, kHeader + 12 * sequences_, documents_);
    int64_t before = 0;
    for (int64_t i = 0; i < documents_; ++i) {
      const int64_t index = indices.next();
      if (i == 0 && index != 0) throw fail(fmt::format("the first document begins at sequence {}, not 0", index));
      if (index < before) throw fail(fmt::format("document {} begins at sequence {}, before the one ahead of it ({})", i, index, before));
      if (index > sequences_) throw fail(fmt::format("document {} begins at sequence {} of {}", i, index, sequences_));
      before = index;
    }
    if (before != sequences_) throw fail(fmt::format("the documents end at sequence {} of {}", before, sequences_));
  }

  const InputFile& file_;
  int64_t bin_bytes_;
  TokenType type_ = TokenType::u16;
  int64_t sequences_ = 0, documents_ = 0;
};

}  // namespace

TokenLayout read_megatron_index(const InputFile& index, int64_t bytes) { return Reader(index, bytes).read(); }

}  // namespace erg
