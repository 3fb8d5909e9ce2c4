// llm.c's and our own token files, read to the end, and batches of them.
#include <algorithm>
#include <vector>

#include "data/batches.hpp"
#include "data/token_file.hpp"
#include "input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace erg;
  static InputAsFile input;
  const std::string& path = input.hold(data, size);
  constexpr int64_t kVocabulary = 50257;
  succeeds([&] {
    const TokenFile file(path);
    promise(file.layout().offset + file.size() * bytes_of(file.layout().type) == int64_t(size));
    std::vector<int32_t> ids(static_cast<size_t>(file.size()));
    file.read(0, ids, kVocabulary);
    for (const int32_t id : ids) promise(id >= 0 && id < kVocabulary);
  });
  succeeds([&] {
    const auto batches = token_files(path, {2, 4, kVocabulary}, 1);
    for (int i = 0; i < 3; ++i)
      for (const Split split : {Split::train, Split::validation})
        for (const int32_t id : batches->next(split).targets) promise(id >= 0 && id < kVocabulary);
  });
  return 0;
}
