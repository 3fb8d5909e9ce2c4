// What PyTorch computes, made by make_torch_reference.py and committed.
#pragma once
#include <fstream>
#include <nlohmann/json.hpp>

namespace erg::test {

using nlohmann::json;

inline const json& torch_reference() {
  static const json all = json::parse(std::ifstream(ERG_SOURCE_DIR "/tests/engine/torch_reference.json"));
  return all;
}

}  // namespace erg::test
