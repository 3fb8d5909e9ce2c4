// A plugin for the tests of open_engine: it tells the interface version it was compiled with, and its engine is never there.
#include "core/error.hpp"
#include "engine/engine.hpp"

#ifdef ERG_STUB_ABI
extern "C" int erg_engine_abi() { return ERG_STUB_ABI; }
extern "C" erg::Engine* erg_engine_open(const erg::EngineOptions* options) {
  throw erg::Error(erg::ErrorKind::unavailable, "the stub has no device " + std::to_string(options->device_index), "stub", "plug one in");
}
#endif
