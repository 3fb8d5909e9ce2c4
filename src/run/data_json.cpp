// Facts and position of batches as JSON, and the position back.
#include "run/data_json.hpp"

#include "core/error.hpp"

namespace erg {

Json data_json(const Batches* data) {
  if (!data) return nullptr;
  const DataFacts facts = data->facts();
  Json json{{"kind", facts.kind}, {"description", data->describe()}, {"real", data->real()}, {"files", facts.files}};
  if (data->real()) {
    json[std::string("train_") + facts.kind] = facts.train;
    json[std::string("validation_") + facts.kind] = facts.validation;
  }
  json["position"] = Json::array();
  for (const SourcePosition& p : data->position())
    json["position"].push_back({{"epoch", p.epoch}, {"index", p.index}, {"samples", p.samples}, {"validation", p.validation}});
  return json;
}

DataPosition data_position(const Json& data) {
  try {
    // A number that is not whole would be converted without a word, or undefined.
    const auto whole = [](const Json& p, const char* key) {
      if (p.at(key).is_number_float()) throw Error(ErrorKind::usage, std::string("is not whole: ") + key, "data.position");
      return p.at(key).get<int64_t>();
    };
    DataPosition position;
    for (const Json& p : data.at("position"))
      position.push_back({whole(p, "epoch"), whole(p, "index"), whole(p, "samples"), whole(p, "validation")});
    return position;
  } catch (const nlohmann::json::exception& e) {
    throw Error(ErrorKind::usage, std::string("is not a position: ") + e.what(), "data.position", "take it from a record of a run");
  }
}

}  // namespace erg
