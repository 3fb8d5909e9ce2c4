// TOML text as a spec, for `run` and for `sweep`. What loads must come back the same from its canonical text.
#include "input.hpp"
#include "spec/spec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace erg;
  static InputAsFile file, again;
  SpecRequest request;
  request.source = file.hold(data, size);
  succeeds([&] {
    const Spec spec = load_spec(request);
    const std::string text = to_toml(spec);
    SpecRequest canonical;
    canonical.source = again.hold(text.data(), text.size());
    promise(to_toml(load_spec(canonical)) == text);
  });
  succeeds([&] { load_sweep(request); });
  return 0;
}
