// record.json and samples.json as a results folder holds them: a record that reads must be written and read again the same.
#include <filesystem>
#include <fstream>

#include "input.hpp"
#include "store/files.hpp"

namespace {

// On a file system in memory where there is one; gone at the end.
struct Folder {
  std::filesystem::path path =
      std::filesystem::path(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") / ("ergometer-fuzz-" + std::to_string(getpid()));
  Folder() { std::filesystem::create_directories(path / "run"); }
  ~Folder() { std::filesystem::remove_all(path); }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace erg;
  static const Folder folder;
  for (const auto& file : {record_path(folder.path, "run"), samples_path(folder.path, "run")})
    std::ofstream(file, std::ios::binary).write(reinterpret_cast<const char*>(data), std::streamsize(size));
  succeeds([&] {
    Record record = read_record(folder.path, "run");
    const std::string text = json_text(to_json(record));
    promise(json_text(to_json(record_from_json(Json::parse(text)))) == text);
  });
  succeeds([&] {
    Record record;
    record.id = "run";
    read_samples(folder.path, record);
    samples_text(record);
  });
  return 0;
}
