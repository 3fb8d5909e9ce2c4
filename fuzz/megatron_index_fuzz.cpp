// Megatron's .idx: the first four bytes are the size of its .bin, the rest is the index.
#include <cstring>

#include "data/token_format.hpp"
#include "input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace erg;
  static InputAsFile file;
  uint32_t bytes;
  if (size < sizeof bytes) return 0;
  std::memcpy(&bytes, data, sizeof bytes);
  const InputFile index(file.hold(data + sizeof bytes, size - sizeof bytes));
  succeeds([&] {
    const TokenLayout layout = read_megatron_index(index, bytes);
    promise(layout.offset == 0 && layout.count * bytes_of(layout.type) == bytes && layout.documents >= 0);
  });
  return 0;
}
